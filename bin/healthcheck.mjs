// For a container's HEALTHCHECK, without curl: `node bin/healthcheck.mjs [port]` exits with 0 while the process on that
// port answers /healthz, else with 1.
import process from 'node:process';
import { setTimeout } from 'node:timers';

const port = Number(process.argv[2] ?? 3000);

const timer = setTimeout(() => end(1, 'no answer within 3 s'), 3000);
fetch(`http://127.0.0.1:${port}/healthz`).then(
  ({ status }) => end(status === 200 ? 0 : 1, `status ${status}`),
  (error) => end(1, error.cause?.message ?? error.message),
);

/** Docker keeps what is printed with the result of the check. */
function end(code, what) {
  clearTimeout(timer);
  process.stdout.write(`http://127.0.0.1:${port}/healthz: ${what}\n`);
  process.exitCode = code;
  if (code !== 0) process.exit();
}
