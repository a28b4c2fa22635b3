# The tool alone: one static file and nothing else. Built from the folder of SecretPreferences:
#
#   docker build -f Examples/Docker/Dockerfile.tool -t secretprefs .
#   docker run --rm -i -v shop:/var/lib/shop -v ./shop.key:/run/secrets/shop.key:ro secretprefs set github < token.txt
#
# It runs as the user of the server's image, to whom the directory of the vault belongs.
FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libsodium-dev libmd-dev libqrcodegen-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN Scripts/build static

FROM scratch
COPY --from=build /src/.build/static/secretprefs /secretprefs
USER 10001
ENV SECRETPREFS_VAULT=/var/lib/shop/secrets.spv \
    SECRETPREFS_KEY_FILE=/run/secrets/shop.key \
    SECRETPREFS_SERVICE=com.example.shop
ENTRYPOINT ["/secretprefs"]
