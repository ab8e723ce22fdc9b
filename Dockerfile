# syntax=docker/dockerfile:1
# Two stages: the first builds one binary that needs nothing but libc, the second holds it and little else.

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends g++ make perl cmake \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /seamripper
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/seamripper/target \
    cargo build --release --locked \
 && cp target/release/seamripper /usr/local/bin/seamripper

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin seamripper \
 && install --directory --owner seamripper --mode 0700 /data
COPY --from=build /usr/local/bin/seamripper /usr/local/bin/seamripper
USER seamripper
WORKDIR /data
VOLUME /data
# State, snapshots and the token are kept here.
ENV SEAMRIPPER_BUS__FOLDER=/data
# Inside a container loopback is nobody's: reading needs the token too, except for these two.
ENV SEAMRIPPER_HTTP__LISTEN=0.0.0.0:8470
EXPOSE 8470
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8470 && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["seamripper"]
CMD ["run"]
