/** The look of the sandbox's website: GitHub's colours, light and dark, on any width. */
export const style = `
:root {
  --text: #1f2328; --muted: #59636e; --canvas: #fff; --inset: #f6f8fa; --border: #d1d9e0; --link: #0969da;
  --green: #1a7f37; --button: #1f883d; --yellow: #9a6700; --red: #cf222e; --danger: #cf222e; --purple: #8250df;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #f0f6fc; --muted: #9198a1; --canvas: #0d1117; --inset: #151b23; --border: #3d444d; --link: #4493f8;
    --green: #3fb950; --button: #238636; --yellow: #d29922; --red: #f85149; --danger: #b62324; --purple: #ab7df8;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--canvas); color: var(--text);
  font: 14px/1.5 -apple-system, BlinkMacSystemFont, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif;
}
header, main, footer { max-width: 60rem; margin: 0 auto; padding: 0.75rem 1rem; }
header { display: flex; justify-content: space-between; gap: 1rem; max-width: none;
  background: var(--inset); border-bottom: 1px solid var(--border); }
h1 { font-size: 1.6rem; font-weight: 400; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0; }
p { margin: 0.25rem 0; }
a { color: var(--link); text-decoration: none; }
a:hover, p a { text-decoration: underline; }
.brand { color: inherit; font-weight: 600; }
.muted { color: var(--muted); }
.green { color: var(--green); } .yellow { color: var(--yellow); } .red { color: var(--red); }
.badge { border-radius: 2rem; padding: 0.25rem 0.75rem; color: #fff; font-weight: 500; white-space: nowrap; }
.badge.open { background: var(--button); } .badge.merged { background: #8250df; }
.badge.closed { background: #cf222e; } .badge.draft { background: #59636e; }
.label { border: 1px solid var(--border); border-radius: 2rem; padding: 0 0.5rem; font-size: 12px; }
code { font: 12px ui-monospace, SFMono-Regular, Menlo, monospace; background: var(--inset);
  padding: 0.15em 0.4em; border-radius: 6px; overflow-wrap: anywhere; }
.box { border: 1px solid var(--border); border-radius: 6px; margin: 1rem 0; padding: 0; list-style: none; }
.box > * { padding: 0.75rem 1rem; }
.box > * + * { border-top: 1px solid var(--border); }
.box.can-merge { border-color: var(--green); }
.box.is-merged { border-color: var(--purple); }
.sign { display: inline-block; width: 1.25rem; font-weight: 700; }
.checks { list-style: none; margin: 0.5rem 0 0; padding: 0; }
.checks li { display: flex; flex-wrap: wrap; gap: 0 0.5rem; align-items: baseline;
  padding: 0.35rem 0; border-top: 1px solid var(--border); }
.checks .said { flex: 1 1 12rem; overflow-wrap: anywhere; }
.choices button { display: block; width: 100%; text-align: start; margin: 0.5rem 0; }
button, input:not([type]) { font: inherit; padding: 0.4rem 1rem; border-radius: 6px; border: 1px solid var(--border);
  background: var(--inset); color: inherit; }
textarea { display: block; width: 100%; margin: 0.5rem 0; padding: 0.5rem; font: inherit; border-radius: 6px;
  border: 1px solid var(--border); background: var(--canvas); color: inherit; }
button { cursor: pointer; font-weight: 500; }
button.go { background: var(--button); color: #fff; border-color: transparent; }
button.danger { background: var(--danger); color: #fff; border-color: transparent; }
button:disabled { cursor: not-allowed; background: var(--inset); color: var(--muted); border-color: var(--border); }
`;
