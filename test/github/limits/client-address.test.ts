import { BlockList } from 'node:net';
import { expect, test } from 'vitest';
import { clientAddress, networkOf } from '../../../src/github/limits/client-address.ts';

const trusted = new BlockList();
trusted.addSubnet('10.0.0.0', 8, 'ipv4');
trusted.addSubnet('fd00::', 8, 'ipv6');

test.each([
  // Only the header of a trusted proxy counts.
  ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['fd00::1', '2001:db8::7', '2001:db8::7'],
  // Anybody could have written the addresses left of the right-most untrusted one.
  ['10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
  ['10.1.2.3', '1.1.1.1, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
  ['10.1.2.3', '10.7.7.7, 10.9.9.9', '10.7.7.7'],
  ['10.1.2.3', undefined, '10.1.2.3'],
  ['10.1.2.3', '', '10.1.2.3'],
  ['10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
  [undefined, '198.51.100.1', ''],
])('a socket of %s with the header %s: %s', (socket, header, client) => {
  expect(clientAddress(socket, header, trusted)).toBe(client);
});

test('without trusted proxies the header says nothing', () => {
  expect(clientAddress('127.0.0.1', '198.51.100.1', new BlockList())).toBe('127.0.0.1');
});

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
