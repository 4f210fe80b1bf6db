# Both bases have Node 24; `make image BASES=local` puts ones made on this machine in their place.
ARG BUILD_BASE=docker.io/library/node:24-trixie-slim@sha256:173f125896c3b47ddf056734c7ea789d04595a6a08769a8f78e0df642781fb66
ARG RUNTIME_BASE=gcr.io/distroless/nodejs24-debian13:nonroot@sha256:fbbdda866ea71aef98c4abece17e3d61fbf820cc2ef3961522caa2478716171a

FROM ${RUNTIME_BASE} AS runtime

# What is built is JavaScript: the same for every platform.
FROM --platform=$BUILDPLATFORM ${BUILD_BASE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=secret,id=ca \
    if [ -f /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi; \
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
COPY . .
# The images with git and with Trivy take this step from the plain one.
RUN node hack/image/program.ts /image/app /packages.json
COPY --from=runtime /var/lib/dpkg/status.d /runtime/var/lib/dpkg/status.d
COPY --from=runtime /nodejs /runtime/nodejs
# In the image with Trivy, also the Go modules that it is made of.
COPY --from=runtime /usr/share/doc /runtime/usr/share/doc
ARG SOURCE_DATE_EPOCH=0
RUN SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} node hack/image/app.ts /image/app /packages.json /runtime && \
    install -D hack/image/depot /image/usr/bin/depot

FROM runtime
# hack/image/image adds where it is from, the revision and the version, as far as they are known.
LABEL org.opencontainers.image.title="Depot" \
      org.opencontainers.image.description="A private registry for Terraform and OpenTofu" \
      org.opencontainers.image.licenses="Apache-2.0"
# One layer, however the image is built.
COPY --from=build /image /
ENV NODE_ENV=production MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072
USER 65532:65532
WORKDIR /
EXPOSE 8080 9090
ENTRYPOINT ["/nodejs/bin/node", "--min-semi-space-size=4", "--max-semi-space-size=16", "/app/depot.mjs"]
CMD ["server"]
