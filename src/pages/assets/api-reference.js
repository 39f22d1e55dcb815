// Hands the OpenAPI document of the page to Scalar, without what would reach for another server.
const content = JSON.parse(document.querySelector('#openapi').textContent);
globalThis.Scalar.createApiReference('#reference', {
  content,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  // Keys stay out of a page with this much code of others: the examples are for a shell.
  hideClientButton: true,
  hideTestRequestButton: true,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  defaultOpenAllTags: true,
  documentDownloadType: 'json',
  // Scalar's own colours have too little contrast for small text.
  customCss: `
    .light-mode {
      --scalar-color-2: #545454;
      --scalar-color-3: #5f5f5f;
      --scalar-color-green: #05603a;
      --scalar-color-red: #b00020;
      --scalar-color-yellow: #6b5300;
      --scalar-color-blue: #005a94;
      --scalar-color-orange: #9a3700;
    }
    .dark-mode {
      --scalar-color-2: #b8b8b8;
      --scalar-color-3: #a4a4a4;
      --scalar-color-red: #ff8a8a;
    }`,
});
