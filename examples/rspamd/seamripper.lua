--[[
Asks a seamripper run about every mail: whose copy it is, how large and how widely spread its group is, and which labels it carries.

Goes to $LOCAL_CONFDIR/plugins.d/seamripper.lua (/etc/rspamd/plugins.d), with a section `seamripper { }` in rspamd.conf.local; its keys
are those of `settings` below. docs/MAIL.md tells how. Licensed as seamripper is: Apache 2.0 or MIT, at your option.

Symbols, each with what is behind it as options:
  SEAMRIPPER_ORIGINAL, _MIRROR (group, size, spread), _QUILT, _TEMPLATE   what the mail is
  SEAMRIPPER_BULK          a copy in a group of `bulk_size_min` mails and more, from `bulk_spread_min` domains and more
  SEAMRIPPER_LABEL_<NAME>  a label that has a score in `labels`; where `allow` is carried, that one alone
  SEAMRIPPER_UNCHECKED     there is no verdict, and why; the mail goes on
In shadow mode (`mode = "shadow"` of the run) all of them count nothing.
]]--

if confighelp then
  rspamd_config:add_example(nil, 'seamripper', 'Asks a seamripper run about every mail', [[
seamripper {
  server = "http://127.0.0.1:8470";
  token_file = "/var/lib/seamripper/http-token";
  labels { spam = 8.0; allow = -20.0; }
}
]])
  return
end

local rspamd_http = require 'rspamd_http'
local rspamd_logger = require 'rspamd_logger'
local rspamd_util = require 'rspamd_util'
local lua_util = require 'lua_util'
local ucl = require 'ucl'

local N = 'seamripper'

local settings = {
  -- The HTTP side of the run.
  server = 'http://127.0.0.1:8470',
  -- Holds the token that learning needs (http.token_file of the run). It is read once, at start.
  token_file = nil,
  -- Mails that are asked about are learnt: later ones are compared with them.
  learn = true,
  -- Seconds that a mail waits for its verdict.
  timeout = 2.0,
  -- After three failures in a row mails go on unchecked for so many seconds.
  pause = 5.0,
  -- Larger mails go on unchecked.
  size_max = 10 * 1024 * 1024,
  -- From when on a group of copies is a campaign.
  bulk_size_min = 20,
  bulk_spread_min = 3,
  -- Scores by class; 0 shows a symbol and counts nothing.
  scores = { original = 0.0, mirror = 0.0, quilt = 0.0, template = 0.0, bulk = 0.0 },
  -- Scores by label.
  labels = {},
}

local RECIPIENTS_MAX = 50
local FAILURES_MAX = 3
local n_failures, paused_until = 0, 0
local token

local function label_symbol(label)
  return 'SEAMRIPPER_LABEL_' .. label:upper():gsub('[^%w]', '_')
end

-- Ids and labels may be anybody's words: visible ASCII as it is, and not too much of it.
local function plain(text)
  return tostring(text):sub(1, 128):gsub('[^\33-\126]', '?')
end

local function unchecked(task, why, is_failure)
  if is_failure then
    n_failures = n_failures + 1
    if n_failures >= FAILURES_MAX then
      paused_until = rspamd_util.get_time() + settings.pause
    end
  end
  task:insert_result('SEAMRIPPER_UNCHECKED', 1.0, why)
end

-- The domain for which rspamd's own checks have passed: DMARC's, else DKIM's, else SPF's.
local function authenticated_domain(task)
  local dmarc = task:get_symbol('DMARC_POLICY_ALLOW')
  if dmarc and dmarc[1].options and dmarc[1].options[1] then
    return dmarc[1].options[1]
  end
  for _, result in ipairs(task:get_dkim_results() or {}) do
    if result.result == 'allow' and result.domain then
      return result.domain
    end
  end
  if task:has_symbol('R_SPF_ALLOW') then
    local from = task:get_from('smtp')
    return from and from[1] and from[1].domain
  end
end

local function question(task)
  local headers = { ['id'] = string.format('%s-%s', task:get_queue_id() or 'mail', task:get_uid()) }
  headers['id'] = headers['id']:gsub('[^%w%-]', '_')
  headers['authorization'] = token
  local ip = task:get_from_ip()
  if ip and ip:is_valid() then
    headers['client-ip'] = ip:to_string()
  end
  local from = task:get_from('smtp')
  if from and from[1] and from[1].addr ~= '' then
    headers['mail-from'] = plain(from[1].addr)
  end
  local rcpt = {}
  for _, recipient in ipairs(task:get_recipients('smtp') or {}) do
    if #rcpt < RECIPIENTS_MAX then
      rcpt[#rcpt + 1] = plain(recipient.addr)
    end
  end
  if #rcpt > 0 then
    headers['rcpt'] = rcpt
  end
  local domain = authenticated_domain(task)
  if domain then
    headers['authenticated-domain'] = plain(domain)
  end
  return headers
end

local function tell(task, answer)
  local verdict = answer.verdict
  -- In shadow mode, and in any mode that is not known here, nobody is to act on it.
  local weight = answer.mode == 'filter' and 1.0 or 0.0
  if #(verdict.classes or {}) == 0 and verdict.outcome == 'judged' then
    task:insert_result('SEAMRIPPER_ORIGINAL', weight, plain(verdict.id))
  end
  for _, class in ipairs(verdict.classes or {}) do
    local symbol = 'SEAMRIPPER_' .. class:upper()
    local mirror = verdict.mirror
    if class == 'mirror' and mirror then
      local options = { plain(mirror.of), 'size=' .. plain(mirror.size), 'spread=' .. plain(mirror.domains) }
      task:insert_result(symbol, weight, options)
      if mirror.size >= settings.bulk_size_min and mirror.domains >= settings.bulk_spread_min then
        task:insert_result('SEAMRIPPER_BULK', weight, options)
      end
    else
      task:insert_result(symbol, weight, plain(verdict.id))
    end
  end
  local carried = {}
  for _, label in ipairs(verdict.labels or {}) do
    carried[label.label] = label.of
  end
  if carried.allow then
    carried = { allow = carried.allow }
  end
  for label, of in pairs(carried) do
    if settings.labels[label] then
      task:insert_result(label_symbol(label), weight, plain(of))
    end
  end
end

local function check(task)
  if task:get_size() > settings.size_max then
    return unchecked(task, 'too_large')
  elseif rspamd_util.get_time() < paused_until then
    return unchecked(task, 'paused')
  end
  local function answered(err, code, body)
    if err then
      rspamd_logger.errx(task, '%s: the server cannot be asked: %s', N, err)
      return unchecked(task, 'unreachable', true)
    elseif code == 202 then
      return unchecked(task, 'late', true)
    elseif code ~= 200 then
      rspamd_logger.errx(task, '%s: the server answers %s', N, code)
      return unchecked(task, plain('status ' .. code), code >= 500)
    end
    local parser = ucl.parser()
    local is_json = parser:parse_text(body)
    local answer = is_json and parser:get_object()
    if type(answer) ~= 'table' or type(answer.verdict) ~= 'table' then
      return unchecked(task, 'garbled')
    end
    n_failures, paused_until = 0, 0
    tell(task, answer)
  end
  rspamd_http.request({
    task = task,
    url = string.format('%s/v1/check?kind=email&learn=%s&timeout_ms=%d', settings.server, settings.learn,
        settings.timeout * 900),
    method = 'post',
    mime_type = 'message/rfc822',
    headers = question(task),
    body = task:get_content(),
    timeout = settings.timeout,
    callback = answered,
  })
end

local options = rspamd_config:get_all_opt(N)
if type(options) ~= 'table' then
  lua_util.disable_module(N, 'config')
  return
end
settings = lua_util.override_defaults(settings, options)
settings.server = settings.server:gsub('/+$', '')
if settings.token_file then
  local file, problem = io.open(settings.token_file, 'r')
  local text = file and file:read('*l')
  if file then
    file:close()
  end
  if text and text ~= '' then
    token = 'Bearer ' .. text
  else
    rspamd_logger.errx(rspamd_config, '%s: no token in %s: %s', N, settings.token_file, problem)
  end
end

local parent = rspamd_config:register_symbol({
  name = 'SEAMRIPPER_CHECK',
  type = 'callback',
  group = N,
  callback = check,
  flags = 'nostat,empty',
  augmentations = { string.format('timeout=%f', settings.timeout) },
})
local function symbol(name, score, description)
  rspamd_config:register_symbol({
    name = name, type = 'virtual', parent = parent, group = N, score = score, description = description,
  })
end
local scores = settings.scores
symbol('SEAMRIPPER_ORIGINAL', scores.original, 'No copy of an earlier mail')
symbol('SEAMRIPPER_MIRROR', scores.mirror, 'A near copy of an earlier mail: group, its size, its domains')
symbol('SEAMRIPPER_QUILT', scores.quilt, 'Stitched together from several others')
symbol('SEAMRIPPER_TEMPLATE', scores.template, 'Made by the same generator as others')
symbol('SEAMRIPPER_BULK', scores.bulk, 'A copy in a large group from several domains')
symbol('SEAMRIPPER_UNCHECKED', 0.0, 'There is no verdict, and why')
for label, score in pairs(settings.labels) do
  symbol(label_symbol(label), score, 'Labelled ' .. plain(label))
end
-- What they say of the sender goes along.
for _, earlier in ipairs({ 'DMARC_CHECK', 'R_SPF_ALLOW', 'R_DKIM_ALLOW' }) do
  rspamd_config:register_dependency('SEAMRIPPER_CHECK', earlier)
end
