// For a container's HEALTHCHECK, without curl: `node bin/healthcheck.ts [port]` exits with 0 while the process on that
// port answers /healthz, else with 1.
import { get } from 'node:http';
import process from 'node:process';

const address = { host: '127.0.0.1', port: process.argv[2] ?? '3000', path: '/healthz' };

const request = get({ ...address, timeout: 3000 }, (response) => {
  response.resume();
  end(response.statusCode === 200 ? 0 : 1, `status ${response.statusCode}`);
});
request.on('timeout', () => request.destroy(new Error('no answer within 3 s')));
request.on('error', (error) => end(1, error.message));

/** Docker stores the output with the result of the check. */
function end(code: number, what: string): void {
  process.stdout.write(`http://${address.host}:${address.port}${address.path}: ${what}\n`);
  process.exitCode = code;
}
