//! The run that is asked: `POST /v1/check`, over connections that are kept.
//!
//! # Invariants
//! - An answer, or why there is none, is there within `milter.timeout_ms`, whatever the server does.
//! - No more than `milter.mails_max` are asked about at once. (`tests/promises/milter`)

use super::mail::Question;
use super::pause::{Change, Pause};
use super::unchecked::Unchecked;
use crate::config::Settings;
use crate::verdict::event::Verdict;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tracing::{debug, info, warn};

/// An answer names its evidence, which is bounded; a longer one is none of ours.
const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Connections are given up before the server does (`http.timeout_ms`).
const KEPT_FOR: Duration = Duration::from_secs(10);
/// That the server does not want us is said no more often than this.
const SAID_EVERY: Duration = Duration::from_secs(60);

/// What the server says of a mail.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) verdict: Verdict,
    /// Then nobody is to act on it.
    pub(super) is_shadow: bool,
}

/// `schemas/check.json`, as far as it matters here.
#[derive(Deserialize)]
struct Checked {
    verdict: Verdict,
    mode: String,
}

/// The run that is asked.
pub(super) struct Server {
    client: Client<HttpConnector, Body>,
    url: String,
    learn: bool,
    timeout: Duration,
    token_file: PathBuf,
    token: Mutex<Option<HeaderValue>>,
    at_once: Semaphore,
    pause: Pause,
    refusal_said_at: Mutex<Option<Instant>>,
}

impl Server {
    pub(super) fn new(settings: &Settings) -> Self {
        let milter = &settings.milter;
        let timeout = Duration::from_millis(milter.timeout_ms);
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(timeout));
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(KEPT_FOR)
            .pool_max_idle_per_host(milter.mails_max)
            .build(connector);
        let server = Self {
            client,
            url: milter.server.url().to_owned(),
            learn: milter.learn,
            timeout,
            token_file: settings.bus.folder.join(&milter.token_file),
            token: Mutex::default(),
            at_once: Semaphore::new(milter.mails_max),
            pause: Pause::new(Duration::from_millis(milter.pause_ms)),
            refusal_said_at: Mutex::default(),
        };
        server.read_token();
        server
    }

    /// The verdict on a mail, in time, or why there is none.
    pub(super) async fn answer(&self, question: Question) -> Result<Answer, Unchecked> {
        if !self.pause.admits(Instant::now()) {
            return Err(Unchecked::Paused);
        }
        let deadline = Instant::now() + self.timeout;
        // Whoever gets a place when there is no time left to ask would blame the server for it.
        let patience = Instant::now() + self.timeout.mul_f64(0.9);
        let asked = async {
            let _permit = match tokio::time::timeout_at(patience.into(), self.at_once.acquire()).await {
                Ok(permit) => permit.expect("it is never closed"),
                Err(_) => return Err(Unchecked::Busy),
            };
            tokio::time::timeout_at(deadline.into(), self.asked(question, deadline))
                .await
                .unwrap_or(Err(Unchecked::Timeout))
        };
        let answer = asked.await;
        let change = match &answer {
            Err(why) if why.is_failure() => self.pause.failed(Instant::now()),
            Err(Unchecked::Busy) => Change::None,
            Ok(_) | Err(_) => self.pause.answered(),
        };
        match (change, &answer) {
            (Change::Begun, Err(why)) => {
                warn!(server = self.url, %why, "the server fails, mails go on unchecked; it is tried again and again")
            }
            (Change::Over, _) => info!(server = self.url, "the server answers again"),
            _ => {}
        }
        answer
    }

    async fn asked(&self, question: Question, deadline: Instant) -> Result<Answer, Unchecked> {
        // It is to answer before we give up.
        let within = deadline.saturating_duration_since(Instant::now()).mul_f64(0.9).as_millis().max(1);
        let uri = format!("{}/v1/check?kind=email&learn={}&timeout_ms={within}", self.url, self.learn);
        let uri: Uri = uri.parse().map_err(|_| Unchecked::Unreachable)?;
        let mut headers = headers(&question);
        let (mail, _room) = (Bytes::from(question.mail.bytes), question.mail.room);
        if let Some(token) = self.token() {
            headers.insert(header::AUTHORIZATION, token);
        }
        let (status, body) = self.sent(&uri, headers.clone(), mail.clone()).await?;
        let (status, body) = match status {
            // It may have been made, or made anew, since we read it.
            StatusCode::UNAUTHORIZED if let Some(token) = self.read_token() => {
                headers.insert(header::AUTHORIZATION, token);
                self.sent(&uri, headers, mail).await?
            }
            _ => (status, body),
        };
        match status {
            StatusCode::OK => understood(&body),
            StatusCode::ACCEPTED => Err(Unchecked::Late),
            StatusCode::PAYLOAD_TOO_LARGE => Err(Unchecked::TooLarge),
            // It has nothing against the mail: there were too many at once.
            StatusCode::TOO_MANY_REQUESTS => Err(Unchecked::Unavailable),
            status if status.is_client_error() => {
                self.say_refusal(status, &body);
                Err(Unchecked::Refused)
            }
            _ => Err(Unchecked::Unavailable),
        }
    }

    async fn sent(&self, uri: &Uri, headers: HeaderMap, mail: Bytes) -> Result<(StatusCode, Bytes), Unchecked> {
        let mut request = Request::new(Body::from(mail));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri.clone();
        *request.headers_mut() = headers;
        let response = self.client.request(request).await.map_err(|error| {
            debug!(%error, "the server cannot be asked");
            Unchecked::Unreachable
        })?;
        let (head, body) = response.into_parts();
        let body = to_bytes(Body::new(body), ANSWER_BYTES_MAX).await.map_err(|error| {
            debug!(%error, "the answer broke off, or is too long");
            Unchecked::Garbled
        })?;
        Ok((head.status, body))
    }

    fn token(&self) -> Option<HeaderValue> {
        self.token.lock().expect("nobody panics while holding it").clone()
    }

    /// Reads the token again. Returns it if it is another than before.
    fn read_token(&self) -> Option<HeaderValue> {
        let text = match std::fs::read_to_string(&self.token_file) {
            Ok(text) => text,
            Err(error) => {
                debug!(%error, path = %self.token_file.display(), "no token");
                return None;
            }
        };
        let mut token = HeaderValue::from_str(&format!("Bearer {}", text.trim())).ok()?;
        token.set_sensitive(true);
        let before = self.token.lock().expect("nobody panics while holding it").replace(token.clone());
        (before.as_ref() != Some(&token)).then_some(token)
    }

    /// Says, now and then, that the server does not want what we ask.
    fn say_refusal(&self, status: StatusCode, body: &[u8]) {
        let mut said_at = self.refusal_said_at.lock().expect("nobody panics while holding it");
        if said_at.is_some_and(|said_at| said_at.elapsed() < SAID_EVERY) {
            return;
        }
        *said_at = Some(Instant::now());
        let status = status.as_u16();
        match status {
            401 => warn!(
                server = self.url,
                token_file = %self.token_file.display(),
                "the server wants another token (milter.token_file), mails go on unchecked"
            ),
            // The reason is one of a few words; the rest might tell of a mail.
            _ => warn!(server = self.url, status, reason = %reason(body), "the server refuses, mails go on unchecked"),
        }
    }
}

fn understood(body: &[u8]) -> Result<Answer, Unchecked> {
    let Checked { verdict, mode } = serde_json::from_slice(body).map_err(|error| {
        debug!(line = error.line(), column = error.column(), "an answer that this release cannot read");
        Unchecked::Garbled
    })?;
    // What is not known to be a filter's answer is acted on by nobody.
    Ok(Answer { verdict, is_shadow: mode != "filter" })
}

/// The short word that a problem is known by.
fn reason(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Problem {
        reason: String,
    }
    let reason = serde_json::from_slice(body).map_or_else(|_| "unknown".into(), |Problem { reason }| reason);
    super::stamp::plain(&reason).chars().take(32).collect()
}

/// What the server is told beside the mail.
fn headers(question: &Question) -> HeaderMap {
    let Question { id, client, sender, recipients, authenticated_domain, mail: _ } = question;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("message/rfc822"));
    let mut add = |name: &'static str, value: &str| {
        // Text without control characters fits; anything else is left out.
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            headers.append(HeaderName::from_static(name), value);
        }
    };
    add("id", id);
    add("received-at", &jiff::Timestamp::now().to_string());
    client.iter().for_each(|client| add("client-ip", &client.to_string()));
    sender.iter().for_each(|sender| add("mail-from", sender));
    recipients.iter().for_each(|recipient| add("rcpt", recipient));
    authenticated_domain.iter().for_each(|domain| add("authenticated-domain", domain));
    headers
}
