# An image with goodqueue and all extras. See docs/install.md.
FROM rust:1.90-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python3 -m venv /tools && /tools/bin/pip install --no-cache-dir 'maturin>=1.16,<2' \
    && /tools/bin/maturin build --locked --release --out /wheels

FROM python:3.13-slim-bookworm
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[all]" && rm -r /wheels \
    && useradd --create-home goodqueue
USER goodqueue
WORKDIR /home/goodqueue
ENTRYPOINT ["goodqueue"]
CMD ["--help"]
