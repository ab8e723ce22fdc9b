# A thin list; what a target does is in cargo or in scripts/.
.PHONY: demo test soak bench bench-bus bench-check lint help

help:
	@echo "make demo   run the filter over a small bundled corpus and write a report"
	@echo "make test   format, lints, documentation, all tests"
	@echo "make soak   the tests of run and of the buses with their full counts (hours)"
	@echo "make bench  throughput by step, beside references in the same run"
	@echo "make bench-bus  what a bus adds: run beside scan and a loop that does nothing, on both buses"
	@echo "make bench-check  how long POST /v1/check takes under a steady load, and with 1,000 at once"
	@echo "make lint   licences, bans and sources of the dependencies, on top of the lints of make test"

demo:
	@scripts/need cc c++ make perl
	@cargo build --release
	@demo/run

# librdkafka and its OpenSSL are built from source. The broker goes when make does, however it ends.
test:
	@scripts/need cc c++ make perl python3
	@test -n "$$KAFKA_BOOTSTRAP" || scripts/kafka up --watch $$PPID
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items
	cargo test

soak:
	@scripts/need cc c++ make perl python3
	@test -n "$$KAFKA_BOOTSTRAP" || scripts/kafka up --watch $$PPID
	SEAMRIPPER_SOAK=full cargo test --test promises -- --nocapture run:: bus:: memory::

bench:
	@scripts/need cc c++ make perl
	cargo bench --bench sign --bench scan --bench snapshot

bench-bus:
	@scripts/need cc c++ make perl
	@test -n "$$KAFKA_BOOTSTRAP" || scripts/kafka up --watch $$PPID
	KAFKA_BOOTSTRAP=$${KAFKA_BOOTSTRAP:-$$(cat $${CARGO_TARGET_DIR:-target}/kafka/bootstrap)} cargo bench --bench bus

bench-check:
	@scripts/need cc c++ make perl
	cargo bench --bench check

lint:
	@scripts/need cc c++ make perl
	cargo clippy --all-targets -- -D warnings
	@cargo deny --version >/dev/null 2>&1 || cargo install --locked cargo-deny
	cargo deny check licenses bans sources
