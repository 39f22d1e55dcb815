{{/* What every object is called and found by. */}}
{{- define "holdfast.name" -}}
{{- if contains "holdfast" .Release.Name -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-holdfast" .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "holdfast.selector" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "holdfast.labels" -}}
{{ include "holdfast.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Fails for a setting that belongs elsewhere. The values of a release are no place for a secret: the cluster keeps them, and
`helm get values` shows them. */}}
{{- define "holdfast.check-settings" -}}
{{- $secrets := dict
  "DATABASE_URL" "secrets.databaseUrl"
  "SECRET_KEY" "secrets.secretKey"
  "SECRET_KEY_PREVIOUS" "secrets.secretKeyPrevious"
  "METRICS_TOKEN" "secrets.metricsToken"
  "SLACK_BOT_TOKEN" "secrets.slackBotToken"
  "SLACK_SIGNING_SECRET" "secrets.slackSigningSecret"
  "SLACK_APP_TOKEN" "secrets.slackAppToken"
  "LOCK_PRIVATE_KEY" "secrets.lockPrivateKey"
  "PRIVATE_KEY" "app.privateKey"
  "WEBHOOK_SECRET" "app.webhookSecret"
  "CLIENT_SECRET" "app.clientSecret" -}}
{{- $others := dict
  "ROLE" "web and worker"
  "PUBLIC_URL" "publicUrl"
  "TRUSTED_PROXIES" "trustedProxies"
  "APP_ID" "app.id"
  "CLIENT_ID" "app.clientId" -}}
{{- $problems := list -}}
{{- range $name := keys .Values.settings | sortAlpha -}}
{{- with get $secrets (regexReplaceAll "_(FILE|PATH)$" $name "") -}}
{{- $problems = append $problems (printf "settings.%s: secrets do not belong in values. Put it into the Secret %q, below the key that %s names." $name $.Values.secrets.name .) -}}
{{- end -}}
{{- with get $others $name -}}
{{- $problems = append $problems (printf "settings.%s: the chart sets this variable. Use %s instead." $name .) -}}
{{- end -}}
{{- end -}}
{{- with $problems }}{{ join "\n" . | fail }}{{ end -}}
{{- end }}

{{- define "holdfast.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}
