# The image of Holdfast: production dependencies, generated client, and a prepared empty database.
#   docker build -t holdfast .
# Node's own image, pinned by the digest of its multi-platform index (amd64, arm64). For another base:
#   docker build --build-arg NODE_IMAGE=… .
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

FROM ${NODE_IMAGE} AS build
# The data folder is the one place that the service writes to.
RUN install -d -o 1000 -g 1000 /opt/holdfast /opt/data
WORKDIR /opt/holdfast
# As the account that runs the service: Node keeps compiled code for each account.
USER 1000:1000
ENV HOME=/tmp/home
COPY --chown=1000:1000 . .
# The image brings Node: without the optional packages npm brings no other one.
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund && \
    node bin/prune-for-image.ts && \
    chmod -R a+rX,go-w .

FROM ${NODE_IMAGE}
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Holdfast" \
      org.opencontainers.image.description="Merge freezes for GitHub that hold and let go: a self-hosted GitHub App" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data
# The same path as in the build: Node finds its compiled code by it.
WORKDIR /opt/holdfast
COPY --from=build --chown=0:0 /opt/holdfast ./
COPY --from=build --chown=1000:1000 /opt/data /data
# By number, so that Kubernetes sees that it is not root. The files belong to root: the service cannot change them.
USER 1000:1000
VOLUME ["/data"]
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD node bin/healthcheck.ts "$PORT" "$HOST"
# Node itself receives the signals: no npm and no shell in between.
ENTRYPOINT ["node", "--max-semi-space-size=4", "--max-old-space-size=1024", "--v8-pool-size=1", "bin/start.mjs"]
