import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { variables } from '../../src/config.ts';
import { secretFiles } from '../../src/secret-files.ts';
import { documentAt } from '../docs/documents.ts';
import { contextFiles, dockerfile, imageEnvironment, instructions } from '../support/image.ts';

// The promises of the image and of Compose, without an engine. test/processes/container.test.ts runs the image's steps.

/** The same flags everywhere: they bound the memory. */
const npmStart = JSON.parse(documentAt('package.json')).scripts.start.split(' ');

describe('the Dockerfile', () => {
  test('every stage uses one base, pinned by its digest', () => {
    expect(dockerfile[0]!.name).toBe('ARG');
    expect(dockerfile[0]!.value).toMatch(
      /^NODE_IMAGE=docker\.io\/library\/node:24\.\d+\.\d+-\S+@sha256:[0-9a-f]{64}$/,
    );
    expect(instructions('FROM')).toEqual(['${NODE_IMAGE} AS build', '${NODE_IMAGE}']);
  });

  test('it runs as a number that is not root, on one volume, and Node itself gets the signals', () => {
    expect(instructions('USER').at(-1)).toBe('1000:1000');
    expect(instructions('VOLUME')).toEqual(['["/data"]']);
    expect(imageEnvironment()['DATA_DIR']).toBe('/data');
    expect(instructions('STOPSIGNAL')).toEqual(['SIGTERM']);
    expect(JSON.parse(instructions('ENTRYPOINT')[0]!)).toEqual(npmStart);
    expect(instructions('HEALTHCHECK')[0]).not.toMatch(/curl|wget/);
  });

  test('it sets nothing that the service does not read, and no secret', () => {
    const known = ['NODE_ENV', ...Object.keys(variables)];
    const names = Object.keys(imageEnvironment());
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    for (const [file, variable] of Object.entries(secretFiles))
      for (const name of [file, variable]) expect(names).not.toContain(name);
  });

  test('the build gets what it needs, and no tests, settings or data', () => {
    const files = contextFiles();
    for (const path of [
      'package-lock.json',
      'src/main.ts',
      'bin/start.mjs',
      'app.yml',
      'prisma/schema.prisma',
    ])
      expect(files).toContain(path);
    expect(
      files.filter((path) => /^(?:test|sandbox|demo|bench|\.git|data)\b|\.env|generated/.test(path)),
    ).toEqual([]);
  });
});

describe('compose.yaml', () => {
  type Service = {
    environment: Record<string, string>;
    secrets: string[];
    deploy?: { replicas: number };
    [key: string]: unknown;
  };
  const { services, secrets, volumes } = parse(documentAt('compose.yaml'), { merge: true }) as {
    services: Record<string, Service>;
    secrets: Record<string, { file: string }>;
    volumes: object;
  };

  test('it is PostgreSQL, one web and two workers', () => {
    expect(Object.keys(services)).toEqual(['web', 'worker', 'postgres']);
    expect(services['web']!.environment['ROLE']).toBe('web');
    expect(services['web']!.deploy).toBeUndefined();
    expect(services['worker']).toMatchObject({ environment: { ROLE: 'worker' }, deploy: { replicas: 2 } });
    expect(Object.keys(volumes)).toEqual(['postgres']);
  });

  test.each(['web', 'worker', 'postgres'])('%s is locked down', (name) => {
    expect(services[name]).toMatchObject({
      restart: 'unless-stopped',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      tmpfs: expect.arrayContaining(['/tmp']),
    });
    expect(services[name]).not.toHaveProperty('cap_add');
  });

  test('PostgreSQL is one image for good', () => {
    expect(services['postgres']!['image']).toMatch(/^[\w./-]+:\d+\.\d+-\w+@sha256:[0-9a-f]{64}$/);
  });

  test('PostgreSQL starts as its user, who owns the secret and the folder of the socket', () => {
    const [uid, gid] = String(services['postgres']!['user']).split(':');
    expect(documentAt('docs/install-container.md')).toContain(
      `sudo chown ${uid} secrets/postgres-password\n`,
    );
    expect(services['postgres']!['tmpfs']).toContain(`/run/postgresql:uid=${uid},gid=${gid},mode=0775`);
  });

  test.each(['web', 'worker'])('%s waits for the database, and has time to stop', (name) => {
    expect(services[name]).toMatchObject({ depends_on: { postgres: { condition: 'service_healthy' } } });
    const stops = Number(/^(\d+)s$/.exec(String(services[name]!['stop_grace_period']))![1]);
    expect(stops).toBeGreaterThan(10);
  });

  test('every secret comes from a file below ./secrets, and none is in the environment', () => {
    for (const { file } of Object.values(secrets)) expect(file).toMatch(/^\.\/secrets\/[a-z-]+$/);
    for (const { environment, secrets: given } of Object.values(services)) {
      for (const name of given) expect(secrets).toHaveProperty([name]);
      for (const [name, value] of Object.entries(environment)) {
        expect(Object.values(secretFiles)).not.toContain(name);
        if (name.endsWith('_FILE')) expect(given).toContain(value.replace('/run/secrets/', ''));
        if (!name.startsWith('POSTGRES_')) expect(Object.keys(variables)).toContain(name);
      }
    }
  });
});
