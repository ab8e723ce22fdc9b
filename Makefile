# A thin list; what a target does is in cargo or in scripts/.
.PHONY: demo test bench lint help

help:
	@echo "make demo   run the filter over a small bundled corpus and write a report"
	@echo "make test   format, lints, documentation, all tests"
	@echo "make bench  throughput by step, beside references in the same run"
	@echo "make lint   licences, bans and sources of the dependencies, on top of the lints of make test"

demo:
	@scripts/need cc c++ make perl
	@cargo build --release --quiet
	@demo/run

# librdkafka and its OpenSSL are built from source. The broker goes when make does, however it ends.
test:
	@scripts/need cc c++ make perl python3
	@test -n "$$KAFKA_BOOTSTRAP" || scripts/kafka up --watch $$PPID
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items
	cargo test

bench:
	@scripts/need cc c++ make perl
	cargo bench

lint:
	@scripts/need cc c++ make perl
	cargo clippy --all-targets -- -D warnings
	@cargo deny --version >/dev/null 2>&1 || cargo install --locked cargo-deny
	cargo deny check licenses bans sources
