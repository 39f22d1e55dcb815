// Carries connections from an address to a socket in the file system, which all network namespaces share.
import { connect, createServer } from 'node:net';

const [host, port, socket] = process.argv.slice(2) as [string, string, string];
createServer((near) => {
  const far = connect(socket);
  near.pipe(far).pipe(near);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const)
    one.on('error', () => {}).on('close', () => other.destroy());
}).listen(Number(port), host, () => console.log('listening'));
