"""Examples of secrets and of what only looks like one. None of the secrets was ever valid."""

from typing import Final

ALNUM: Final = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zA0cD2fG4hJ6k"
HEX: Final = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c"
JWT: Final = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM: Final = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nq1w2e3\n-----END RSA PRIVATE KEY-----"
BASIC: Final = "dXNlcjpwYXNz"

# Values of which nothing may be seen, under names that say nothing.
VALUES: Final[dict[str, str]] = {
    "GitHub, personal": f"ghp_{ALNUM[:36]}",
    "GitHub, OAuth": f"gho_{ALNUM[:36]}",
    "GitHub, user to server": f"ghu_{ALNUM[:36]}",
    "GitHub, server": f"ghs_{ALNUM[:36]}",
    "GitHub, refresh": f"ghr_{ALNUM[:36]}",
    "GitHub, fine-grained": f"github_pat_{ALNUM[:22]}_{ALNUM}",
    "GitLab": f"glpat-{ALNUM[:20]}",
    "GitLab, runner": f"glrt-{ALNUM[:20]}",
    "Hugging Face": "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
    "OpenAI": f"sk-{ALNUM}",
    "OpenAI, project": f"sk-proj-{ALNUM}_{ALNUM}",
    "Anthropic": f"sk-ant-api03-{ALNUM}-{ALNUM}",
    "OpenRouter": f"sk-or-v1-{HEX}",
    "Slack, bot": "xoxb-123456789012-1234567890123-" + ALNUM[:24],
    "Slack, user": "xoxp-123456789012-" + ALNUM[:24],
    "Slack, app": "xapp-1-A0123456789-123456789-" + ALNUM[:24],
    "Slack, web hook": f"https://hooks.slack.com/services/T00000000/B00000000/{ALNUM[:24]}",
    "Discord, web hook": f"https://discord.com/api/webhooks/123456789012345678/{ALNUM}",
    "NVIDIA": f"nvapi-{ALNUM}",
    "AWS, key": "AKIAIOSFODNN7EXAMPLE",
    "AWS, temporary key": "ASIAIOSFODNN7EXAMPLE",
    "JWT": JWT,
    "npm": f"npm_{ALNUM[:36]}",
    "PyPI": f"pypi-AgEIcHlwaS5vcmc{ALNUM}",
    "DigitalOcean": f"dop_v1_{HEX}",
    "Google, key": f"AIza{ALNUM[:35]}",
    "Google, access": f"ya29.{ALNUM}",
    "Google, OAuth client": f"GOCSPX-{ALNUM[:28]}",
    "SendGrid": f"SG.{ALNUM[:22]}.{ALNUM}",
    "Stripe, secret": f"sk_live_{ALNUM[:24]}",
    "Stripe, restricted": f"rk_live_{ALNUM[:24]}",
    "Stripe, web hook": f"whsec_{ALNUM[:32]}",
    "Shopify": f"shpat_{HEX[:32]}",
    "Facebook": f"EAAC{ALNUM}",
    "Groq": f"gsk_{ALNUM}",
    "xAI": f"xai-{ALNUM}",
    "Replicate": f"r8_{ALNUM[:37]}",
    "Vault": f"hvs.{ALNUM}",
    "Databricks": f"dapi{HEX[:32]}",
    "Docker Hub": f"dckr_pat_{ALNUM[:27]}",
    "LangSmith": f"lsv2_pt_{HEX[:32]}_0123456789",
    "Pinecone": f"pcsk_{ALNUM}",
    "Grafana": f"glsa_{ALNUM[:32]}_0123abcd",
    "New Relic": f"NRAK-{ALNUM[:27].upper()}",
    "Atlassian": f"ATATT3xFfGF0{ALNUM}",
    "Tailscale": f"tskey-auth-{ALNUM[:20]}",
    "Telegram, bot": f"1234567890:AA{ALNUM[:33]}",
    "W&B, new": f"wandb_v1_{ALNUM}",
    "age": f"AGE-SECRET-KEY-1{ALNUM.upper()}",
    "private key": PEM,
    "private key in one line": PEM.replace("\n", "\\n"),
    "OpenSSH key": PEM.replace("RSA", "OPENSSH"),
    "key of a service account": '{"type": "service_account", "private_key": "' + PEM.replace("\n", "\\n") + '"}',
    "key in Base64": "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZLS0tLS0KYjNCbGJuTnph",
    "Bearer": f"Bearer {ALNUM}",
    "Basic": f"Basic {BASIC}",
    "header": f"Authorization: Bearer {ALNUM}",
    "header in capitals": f"AUTHORIZATION: basic {BASIC}",
    "header with a token": f"Authorization: token {HEX}",
    "header of a key": f"X-Api-Key: {ALNUM[:20]}",
    "cookie": f"Cookie: sid={ALNUM[:20]}; theme=dark",
    "user and password of a URL": "postgres://ann:hunter2secret@db.example.org/prod",
    "password of a URL without a user": "redis://:hunter2secret@cache:6379/0",
    "password with a slash in a URL": "amqp://ann:hunter2/secret@mq:5672/%2f",
    "token in a URL": f"https://{ALNUM[:24]}@git.example.org/ann/model.git",
    "GitHub's token in a URL": f"https://ghp_{ALNUM[:36]}@github.com/ann/model.git",
    "Sentry": f"https://{HEX[:32]}@o1.ingest.sentry.io/12",
    "proxy without a scheme": "ann:hunter2secret@proxy.example.org:3128",
    "signature of Azure": f"?sv=2022-11-02&ss=b&se=2030-01-01&sig={ALNUM}%3D&sp=r",
    "signature of S3": f"https://b.s3.amazonaws.com/m.pt?X-Amz-Expires=60&X-Amz-Signature={HEX}",
    "token of a query": f"http://127.0.0.1:8888/lab?token={HEX}",
    "account of Azure": f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={ALNUM}==;EndpointSuffix=x",
    "bus of Azure": f"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={ALNUM}=",
    "connection string": "Server=db;Database=prod;User Id=ann;Password=hunter2secret;",
    "connection string, short": "Server=db;Uid=ann;Pwd=hunter2secret",
    "libpq": "host=db user=ann password='hunter2 secret' dbname=prod",
    "auths of Docker": '{"auths": {"nvcr.io": {"auth": "' + BASIC + '"}}}',
    ".netrc": "machine api.wandb.ai\n  login user\n  password hunter2secret",
    "JSON": '{"model": "gpt2", "api_key": "hunter2 secret"}',
    "JSON in JSON": '{"config": "{\\"api_key\\": \\"hunter2secret\\"}"}',
    "YAML": "client_secret: hunter2secret",
}  # fmt: skip

# Names whose value is secret whatever it looks like.
NAMES: Final = (
    "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "WANDB_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID", "aws_secret_access_key", "AZURE_CLIENT_SECRET",
    "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_KEY", "GITHUB_PAT", "GH_PAT", "GITHUB_TOKEN", "NGC_API_KEY",
    "NGC_CLI_ORG_CRED", "COMET_API_KEY", "MLFLOW_TRACKING_PASSWORD", "NEPTUNE_API_TOKEN", "DB_PW", "MY_PW", "DB_PASS",
    "PGPASSWORD", "MYSQL_PWD", "REDIS_PASSWORD", "SSHPASS", "SMTPPASS", "VAULT_TOKEN", "VAULT_SECRET_ID", "SLURM_JWT",
    "SENTRY_DSN", "SLACK_WEBHOOK_URL", "SESSION_COOKIE", "SESSION_ID", "TWILIO_AUTH_TOKEN", "BASIC_AUTH", "OTP",
    "TOTP_SECRET", "ACCOUNT_PIN", "BLOB_SAS", "JUPYTER_TOKEN", "RAY_AUTH_TOKEN", "apiKey", "hfToken", "clientSecret",
    "DJANGO_SECRET_KEY", "SIGNING_KEY", "ENCRYPTION_KEY", "SSH_PRIVATE_KEY", "KEY_PASSPHRASE", "API_KEY_1",
    "DB_PASSWORD_PROD", "VLLM_API_KEY", "STRIPE_KEY", "WEBHOOK_PSK", "WALLET_MNEMONIC",
)  # fmt: skip
NAMED_VALUE: Final = "hunter2-pw9"

# Variables that users need to see.
HARMLESS: Final = {
    "PATH": "/usr/local/cuda/bin:/usr/bin", "HOME": "/home/ann", "PWD": "/home/ann", "OLDPWD": "/home/ann/a",
    "NCCL_DEBUG": "INFO", "NCCL_SOCKET_IFNAME": "eth0", "NCCL_IB_HCA": "mlx5_0:1,mlx5_1:1",
    "SLURM_JOB_ID": "84213", "SLURM_JOB_NODELIST": "dgx-[01-04]", "SLURM_STEP_ID": "0",
    "SLURM_LAUNCH_NODE_IPADDR": "10.0.0.1", "SLURM_GTIDS": "0,1,2,3", "SLURM_CONF": "/etc/slurm/slurm.conf",
    "MASTER_ADDR": "node-1.example.org", "MASTER_PORT": "29500", "RANK": "3", "WORLD_SIZE": "8",
    "CUDA_VISIBLE_DEVICES": "GPU-8c3f1a2b-0d4e-4f5a-9b6c-7d8e9f0a1b2c", "KEYMAP": "us", "KEYBOARD": "de",
    "XKB_DEFAULT_LAYOUT": "de", "TOKENIZERS_PARALLELISM": "false", "MAX_TOKENS": "512", "MAX_NEW_TOKENS": "1024",
    "NUM_KEY_VALUE_HEADS": "8", "PASSES": "3", "PASS": "2", "BYPASS": "yes", "COMPASS": "north",
    "SSH_AUTH_SOCK": "/run/user/1000/keyring/ssh", "SSH_CONNECTION": "10.0.0.7 51234 10.0.0.1 22",
    "SSH_ASKPASS": "/usr/bin/ksshaskpass", "XDG_SESSION_ID": "c2", "XDG_SESSION_TYPE": "wayland",
    "DESKTOP_SESSION": "ubuntu", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus",
    "SESSION_MANAGER": "local/dgx:@/tmp/.ICE-unix/2034,unix/dgx:/tmp/.ICE-unix/2034",
    "XAUTHORITY": "/run/user/1000/gdm/Xauthority", "GIT_AUTHOR_NAME": "Ann", "HF_TOKEN_PATH": "/home/ann/.cache/token",
    "GOOGLE_APPLICATION_CREDENTIALS": "/etc/keys/model.json", "AWS_SHARED_CREDENTIALS_FILE": "/home/ann/.aws/c",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1", "HF_TOKEN": "", "HTTPS_PROXY": "http://proxy.example.org:3128",
    "NO_PROXY": "localhost,10.0.0.0/8", "WANDB_BASE_URL": "https://wandb.example.org:8080/a@b:c",
    "REMOTE": "ssh://git@host/ann/model", "ORIGIN": "git@github.com:ann/model.git", "TERM": "xterm-256color",
    "IMAGE": "nvcr.io/nvidia/pytorch:24.05-py3@sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f0", "BATCH": "a:b@c",
    "PYTHONHASHSEED": "0", "OMP_PLACES": "cores", "OPAL_PREFIX": "/opt/ompi", "COLORTERM": "truecolor",
    "GPG_AGENT_INFO": "/run/gpg:0:1", "LS_COLORS": "rs=0:di=01;34:ln=01;36", "PIN_MEMORY": "true",
    "SORT_KEY": "loss", "SIGNATURE": "serving_default", "AUTH": "ldap", "CONTACT": "mailto:ann@example.org",
    "CI_COMMIT_SHA": HEX, "WANDB_RUN_ID": "3kq8z1xv", "TORCHELASTIC_RUN_ID": "456",
}  # fmt: skip

# Command lines of which nothing is masked.
HARMLESS_COMMANDS: Final = (
    ("vllm", "serve", "qwen:7b@main", "--max-tokens", "512", "--tokenizer", "gpt2", "--port", "8000", "-p", "8080"),
    ("python", "train.py", "--num-key-value-heads", "8", "--pass-through", "--passes", "3", "--token-file", "/x"),
    ("torchrun", "--rdzv-endpoint", "node1:29500", "--rdzv_id", "456", "train.py", "--pin-memory", "--seed", "1"),
    ("python", "-m", "verl.main", "data.prompt_key=prompt", "data.reward_fn_key=data_source", "max_tokens=512"),
    ("deepspeed", "run.py", "--input_key", "messages", "--eos-token", "</s>", "--pad_token=<pad>"),
    ("sglang", "--token-budget=4096", "--auth-type", "ldap", "--no-token", "x", "--key-file=/etc/k.pem"),
    ("ssh", "-p", "2222", "ann@host", "-i", "/home/ann/.ssh/id_rsa"),
    ("python", "serve.py", "--ssl-keyfile", "/etc/k.pem", "--ssl-key", "/etc/ssl/k.pem", "--use-auth-token", "True"),
    ("sh", "-c", "cd /work && python train.py --lr 1e-4 --batch-size 8 | tee log"),
    ("python", "chat.py", "--prompt", "the basic idea of a token and its password is old"),
    ("python", "invert.py", "--placeholder_token", "<cat-toy>", "--mask-token=[MASK]", "--metric_key", "val_loss_2"),
    ("sglang", "--speculative-token-map", "map", "--moe-token-dispatcher", "alltoall", "--keys", "a,b"),
    ("nvidia-smi", "--query-gpu=pci.bus_id,serial", "--format=csv"), ("sshd: ann@pts/0",), ("nginx: worker process",),
    ("sk-learn-model-trainer", "--hf_model_checkpoint_directory", "hf_llama_checkpoint_directory"),
    ("/usr/bin/ffmpeg", "-pass", "1", "-i", "rtsp://camera:554/a@b"), ("mysql", "-p", "prod"), (),
    ("curl", "https://host:8080/v1", "-u", "--key", "name"), ("docker", "run", "-p", "8080:80", "nvcr.io/a:b@sha256:1"),
)  # fmt: skip

_VISIBLE: Final = (
    ALNUM[:12], ALNUM[:12].upper(), HEX[:12], BASIC, "hunter2", "MIIE", "q1w2", "aBcDeFg", "IOSFOD", "dozj", "YjNC",
)  # fmt: skip


def seen(text: str) -> list[str]:
    """Return the parts of secrets that a text shows."""
    return [part for part in _VISIBLE if part in text]
