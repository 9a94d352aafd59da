# An image with goodqueue and all extras. See docs/install.md. Images have digests and packages have hashes, so that a
# build has the same contents tomorrow. `make lock` writes the lists of packages.
FROM rust:1.90-bookworm@sha256:3914072ca0c3b8aad871db9169a651ccfce30cf58303e5d6f2db16d1d8a7e58f AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python3 -m venv /tools \
    && /tools/bin/pip install --no-cache-dir --no-deps --require-hashes -r tools/image/build.lock \
    && /tools/bin/maturin build --locked --release --out /wheels

FROM python:3.13.14-slim-bookworm@sha256:67a1e1f215ccda113cfc024e8639049257e88f273898f595b61476d128d387e8
COPY --from=build /wheels /wheels
COPY tools/image/requirements.lock /wheels/
RUN pip install --no-cache-dir --no-deps --require-hashes -r /wheels/requirements.lock \
    && pip install --no-cache-dir --no-deps --no-index /wheels/*.whl && rm -r /wheels \
    && useradd --create-home goodqueue
USER goodqueue
WORKDIR /home/goodqueue
ENTRYPOINT ["goodqueue"]
CMD ["--help"]
