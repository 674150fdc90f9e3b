# Postloft in a container: Node.js 24 and the packages it needs, run by a user without privileges. For amd64 and arm64.
# compose.yaml starts it with a PostgreSQL container; alone it keeps an embedded one in the volume /data.
# Commands for operators: docker compose exec postloft npm run doctor (or admin, backup, restore).
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY contract/package.json contract/
COPY dashboard/package.json dashboard/
COPY server/package.json server/
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

# The dashboard needs its packages only while it is built.
FROM node:24-bookworm-slim AS dashboard
WORKDIR /app
COPY package.json package-lock.json ./
COPY contract/package.json contract/
COPY dashboard/package.json dashboard/
COPY server/package.json server/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY contract contract
COPY dashboard dashboard
RUN npm run build --workspace dashboard

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE ./
COPY contract contract
COPY server server
COPY tools/bootstrap tools/bootstrap
COPY --from=dashboard /app/dashboard/dist dashboard/dist
RUN install -d -o node -g node -m 700 /data
USER node
VOLUME /data
EXPOSE 3000 2525
# Checks that the process is alive, not that it is ready, because a container must not be killed while its database is away.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["node", "server/src/main.ts"]
