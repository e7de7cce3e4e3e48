# Partyline in a container: `docker build -t partyline .`, or `docker compose up`. docs/install.md says how to run it.
ARG PYTHON=python:3.12-slim-bookworm

FROM ${PYTHON} AS build
RUN python -m venv /opt/partyline
WORKDIR /src
COPY pyproject.toml README.md LICENSE hatch_build.py ./
COPY actors actors
COPY partyline partyline
COPY persistence persistence
COPY routes routes
COPY scripts scripts
COPY compiled compiled
# 1 compiles the modules that all traffic passes; takes minutes.
ARG PARTYLINE_COMPILE=0
RUN [ "$PARTYLINE_COMPILE" = 0 ] || { apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev; }
RUN /opt/partyline/bin/pip install --no-cache-dir '.[fast,nodes]' \
    && rm -rf /opt/partyline/lib/python3*/site-packages/pip /opt/partyline/lib/python3*/site-packages/pip-*

FROM ${PYTHON}
# The same number on every machine, so that a volume keeps its owner.
RUN groupadd --system --gid 10001 partyline \
    && useradd --system --uid 10001 --gid partyline --home-dir /data --shell /usr/sbin/nologin partyline \
    && install -d -o partyline -g partyline -m 0700 /data /shared
COPY --from=build /opt/partyline /opt/partyline
ENV PATH=/opt/partyline/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    XDG_CACHE_HOME=/tmp \
    PARTYLINE_BIND=0.0.0.0:8080 \
    PARTYLINE_DATA_DIR=/data \
    PARTYLINE_LOG=json
USER partyline
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s --retries=3 CMD ["partyline", "health"]
ENTRYPOINT ["partyline"]
CMD ["serve"]
