import { spawnSync } from 'node:child_process';
import { totalmem } from 'node:os';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Probe, Service } from 'kubernetes-types/core/v1.d.ts';
import { metricsPath } from '../../src/server/metrics/figures.ts';
import { readConfig, variables } from '../../src/config.ts';
import { secretFiles } from '../../src/secret-files.ts';
import { documentAt } from '../docs/documents.ts';
import type { ServiceMonitor } from './prometheus-operator.d.ts';
import {
  complaintsAbout,
  defaults,
  install,
  type Labels,
  type Manifest,
  render,
  whyNot,
  withDefaults,
} from './render-chart.ts';

const required = {
  publicUrl: 'https://holdfast.example.com',
  image: { repository: 'registry.example/holdfast' },
};
const everything = {
  ...required,
  image: { ...required.image, digest: `sha256:${'a'.repeat(64)}`, pullSecrets: [{ name: 'registry' }] },
  settings: { LOG_LEVEL: 'debug', STATUS_WRITES_PER_MINUTE: '120', NODE_OPTIONS: '--use-openssl-ca' },
  trustedProxies: ['10.244.0.0/16', '2001:db8::7'],
  startupSeconds: 901,
  podLabels: { team: 'release' },
  podAnnotations: { 'example.com/backup': 'no' },
  priorityClassName: 'important',
  nodeSelector: { 'kubernetes.io/arch': 'arm64' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }],
      },
    },
  },
  extraVolumes: [{ name: 'authority', configMap: { name: 'authority' } }],
  extraVolumeMounts: [{ name: 'authority', mountPath: '/etc/authority', readOnly: true }],
  app: { id: '123456', clientId: 'Iv23li' },
  ingress: { enabled: true, className: 'nginx', annotations: { a: 'b' }, tlsSecret: 'tls' },
  networkPolicy: {
    from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
    database: { to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], port: 6432 },
  },
  secrets: {
    ...{ metricsToken: 'metrics-token', secretKeyPrevious: 'former-key', lockPrivateKey: 'lock-key' },
    ...{ slackBotToken: 'slack-bot', slackSigningSecret: 'slack-signing', slackAppToken: 'slack-app' },
  },
  serviceMonitor: { enabled: true, interval: '15s', labels: { release: 'prometheus' } },
  prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  grafanaDashboard: { enabled: true, labels: { grafana_dashboard: 'yes' } },
};

/** Whether labels are what a selector asks for. */
const covers = (labels: Labels = {}, selector: Labels): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

/** What neither the service nor Node reads. */
const unknown = (names: string[]): string[] =>
  names.filter((name) => name !== 'NODE_OPTIONS' && !(name in variables));

const named = (manifests: Manifest[], kind: string) => manifests.filter((each) => each.kind === kind);

/** The environment of web and worker. */
const environments = (manifests: Manifest[]): Partial<Record<string, string>>[] =>
  named(manifests, 'Deployment').map(({ spec }) => {
    const { env } = spec.template.spec.containers[0]!;
    expect(new Set(env.map(({ name }) => name)).size).toBe(env.length);
    return Object.fromEntries(env.map(({ name, value }) => [name, value]));
  });

describe('what it renders', () => {
  test('web and workers apart, locked down, with probes, and one of each can be unavailable', ({ skip }) => {
    if (whyNot) skip(whyNot);
    const manifests = render(required);
    expect(complaintsAbout(manifests)).toEqual([]);
    expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
      'Deployment prod-holdfast-web',
      'Deployment prod-holdfast-worker',
      'NetworkPolicy prod-holdfast',
      'PodDisruptionBudget prod-holdfast-web',
      'PodDisruptionBudget prod-holdfast-worker',
      'Service prod-holdfast',
    ]);
    for (const { metadata, spec } of named(manifests, 'Deployment')) {
      const pod = spec.template.spec;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(pod['terminationGracePeriodSeconds']).toBeGreaterThan(15);
      const [container] = pod.containers;
      expect(container).toMatchObject({
        image: 'registry.example/holdfast:1.2.3',
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        startupProbe: { httpGet: { path: '/healthz', port: 'http' } },
        livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
        readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
      });
      const environment = Object.fromEntries(container!.env.map(({ name, value }) => [name, value]));
      expect(unknown(Object.keys(environment))).toEqual([]);
      for (const secret of Object.values(secretFiles)) expect(environment).not.toHaveProperty([secret]);
      expect(metadata.name).toMatch(new RegExp(`-${environment['ROLE']}$`));
      expect(environment['DATABASE_URL_FILE']).toBe('/run/secrets/holdfast/database-url');
    }
    for (const { spec } of named(manifests, 'PodDisruptionBudget')) expect(spec['maxUnavailable']).toBe(1);
    // Secrets are referred to, and never made.
    expect(named(manifests, 'Secret')).toEqual([]);
  });

  test('every value that can be set is used', ({ skip }) => {
    if (whyNot) skip(whyNot);
    const manifests = render(everything);
    expect(complaintsAbout(manifests)).toEqual([]);
    const [web] = named(manifests, 'Deployment');
    const [container] = web!.spec.template.spec.containers;
    expect(container!.image).toBe(`registry.example/holdfast@sha256:${'a'.repeat(64)}`);
    const names = container!.env.map(({ name }) => name);
    expect(unknown(names)).toEqual([]);
    for (const name of [
      'APP_ID',
      'PRIVATE_KEY_FILE',
      'WEBHOOK_SECRET_FILE',
      'CLIENT_SECRET_FILE',
      'LOG_LEVEL',
    ])
      expect(names).toContain(name);
    expect(named(manifests, 'Ingress')[0]!.spec).toMatchObject({
      ingressClassName: 'nginx',
      rules: [{ host: 'holdfast.example.com' }],
      tls: [{ hosts: ['holdfast.example.com'], secretName: 'tls' }],
    });
    const [policy] = named(manifests, 'NetworkPolicy');
    expect(policy!.spec['policyTypes']).toEqual(['Ingress', 'Egress']);
    expect(policy!.spec['egress']).toContainEqual({
      ports: [{ port: 6432, protocol: 'TCP' }],
      to: everything.networkPolicy.database.to,
    });
  });

  test('an Ingress is for the host of publicUrl, without the port', ({ skip }) => {
    if (whyNot) skip(whyNot);
    const ingress = { enabled: true, tlsSecret: 'tls' };
    const manifests = render({ ...required, publicUrl: 'https://Holdfast.example.com:8443', ingress });
    expect(named(manifests, 'Ingress')[0]!.spec).toMatchObject({
      rules: [{ host: 'holdfast.example.com' }],
      tls: [{ hosts: ['holdfast.example.com'] }],
    });
    for (const environment of environments(manifests))
      expect(environment['PUBLIC_URL']).toBe('https://Holdfast.example.com:8443');
  });

  test('pods of both roles are scheduled, labelled and mounted as you say', ({ skip }) => {
    if (whyNot) skip(whyNot);
    const { podLabels, podAnnotations, extraVolumes, extraVolumeMounts } = everything;
    const { priorityClassName, nodeSelector, tolerations, affinity } = everything;
    const deployments = named(render(everything), 'Deployment');
    expect(deployments).toHaveLength(2);
    for (const { spec } of deployments) {
      const { metadata, spec: pod } = spec.template;
      expect(metadata).toMatchObject({ labels: podLabels, annotations: podAnnotations });
      const { matchLabels } = spec['selector'] as { matchLabels: Labels };
      expect(covers(metadata.labels, matchLabels)).toBe(true);
      // A selector can never change, so it has nothing that you can change.
      expect(matchLabels).not.toHaveProperty('team');
      expect(pod).toMatchObject({ priorityClassName, nodeSelector, tolerations, affinity });
      expect(pod['volumes']).toEqual(expect.arrayContaining(extraVolumes));
      expect(pod.containers[0]!['volumeMounts']).toEqual(expect.arrayContaining(extraVolumeMounts));
    }
  });

  test('trustedProxies and the former key become variables', ({ skip }) => {
    if (whyNot) skip(whyNot);
    for (const environment of environments(render(everything))) {
      expect(
        readConfig({ TRUSTED_PROXIES: environment['TRUSTED_PROXIES'] }).trustedProxies.rules,
      ).toHaveLength(2);
      expect(environment['SECRET_KEY_PREVIOUS_FILE']).toBe('/run/secrets/holdfast/former-key');
    }
    for (const environment of environments(render(required))) {
      expect(environment).not.toHaveProperty('TRUSTED_PROXIES');
      expect(environment).not.toHaveProperty('SECRET_KEY_PREVIOUS_FILE');
    }
  });

  test.for([
    [{}, 300],
    [{ startupSeconds: 901 }, 902],
  ] as const)('a pod may take the time of %j to start: %j s', ([given, seconds], { skip }) => {
    if (whyNot) skip(whyNot);
    for (const { spec } of named(render({ ...required, ...given }), 'Deployment')) {
      const { periodSeconds, failureThreshold } = spec.template.spec.containers[0]!['startupProbe'] as Probe;
      expect(periodSeconds! * failureThreshold!).toBe(seconds);
    }
  });

  test('the heap ends below the memory limit, whatever that is', ({ skip }) => {
    if (whyNot) skip(whyNot);
    const settings = { NODE_OPTIONS: '--use-openssl-ca' };
    const [web, worker] = environments(
      render({
        ...required,
        settings,
        web: { resources: { limits: { memory: '2Gi' } } },
        worker: { resources: {} },
      }),
    );
    // Without a limit, the image's own flag counts.
    expect(worker!['NODE_OPTIONS']).toBe('--use-openssl-ca');
    const [unchanged] = environments(render(required));
    const flags = JSON.parse(documentAt('package.json')).scripts.start.split(' ').slice(1, -1);
    for (const { NODE_OPTIONS: given = '' } of [web!, unchanged!]) {
      // The limit of this process stands for the container's: Node asks for it in the same way.
      const { stdout } = spawnSync(
        process.execPath,
        [...flags, '-p', 'v8.getHeapStatistics().heap_size_limit'],
        { env: { NODE_OPTIONS: given }, encoding: 'utf8' },
      );
      const limit = Math.min(process.constrainedMemory() || Infinity, totalmem());
      expect(Number(stdout) / limit).toBeCloseTo(0.6, 1);
    }
    expect(web!['NODE_OPTIONS']).toContain('--use-openssl-ca');
  });

  test('settings refuse secrets and what other values set, and say where each belongs', ({ skip }) => {
    if (whyNot) skip(whyNot);
    const ofSecrets = new Set(Object.entries(secretFiles).flat());
    const names = [...ofSecrets, 'ROLE', 'PUBLIC_URL', 'TRUSTED_PROXIES', 'APP_ID', 'CLIENT_ID'];
    const settings = Object.fromEntries(names.map((name) => [name, 'given value']));
    let message = '';
    try {
      render({ ...required, settings: { ...settings, LOG_LEVEL: 'debug' } });
    } catch (error) {
      message = String(error);
    }
    const refused = [...message.matchAll(/settings\.(\w+): .*(?:key that|Use) ([a-z]\S+[a-zA-Z])/g)];
    expect(refused.map(([, name]) => name).toSorted()).toEqual(names.toSorted());
    for (const [line, name, value] of refused) {
      expect(line.includes('the Secret "holdfast"')).toBe(ofSecrets.has(name!));
      expect(defaults).toHaveProperty(value!);
    }
    expect(message).not.toContain('given value');
  });

  test('the notes say what is left to do', ({ skip }) => {
    if (whyNot) skip(whyNot);
    const { notes } = install(required);
    for (const text of ['/setup', 'trustedProxies is empty', 'Service prod-holdfast, port 80', '"holdfast"'])
      expect(notes).toContain(text);
    const { notes: afterwards } = install(everything);
    expect(afterwards).toContain(everything.publicUrl);
    expect(afterwards).not.toMatch(/setup|trustedProxies|Service/);
  });

  test('Prometheus finds web and workers, with the token, and is let in', ({ skip }) => {
    if (whyNot) skip(whyNot);
    const manifests = render(everything);
    for (const { spec } of named(manifests, 'Deployment')) {
      const { env } = spec.template.spec.containers[0]!;
      const path = '/run/secrets/holdfast/metrics-token';
      expect(env).toContainEqual({ name: 'METRICS_TOKEN_FILE', value: path });
    }
    const [monitor] = named(manifests, 'ServiceMonitor');
    expect(monitor!.metadata.labels).toMatchObject({ release: 'prometheus' });
    const { selector, endpoints, jobLabel } = monitor!.spec as unknown as ServiceMonitor['spec'];
    expect(endpoints).toEqual([
      {
        port: 'http',
        path: metricsPath,
        interval: '15s',
        authorization: { credentials: { name: 'holdfast', key: 'metrics-token' } },
      },
    ]);
    const found = named(manifests, 'Service').filter(({ metadata }) =>
      covers(metadata.labels, selector.matchLabels),
    );
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['prod-holdfast-metrics']);
    const [service] = found as unknown as Required<Service>[];
    expect(service!.metadata.labels![jobLabel!]).toBe('holdfast');
    expect(service!.spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
    expect(service!.spec.ports).toEqual([expect.objectContaining({ name: 'http', targetPort: 'http' })]);
    const pods = named(manifests, 'Deployment').map(({ spec }) => spec.template.metadata.labels);
    expect(pods.filter((labels) => covers(labels, service!.spec.selector!))).toHaveLength(2);
    const [policy] = named(manifests, 'NetworkPolicy');
    expect(policy!.spec['ingress']).toEqual([
      { ports: [{ port: 'http' }], from: everything.networkPolicy.from },
      { ports: [{ port: 'http' }], from: defaults['serviceMonitor']!['from'] },
    ]);
  });

  test('the rule is the file of alerts, word for word', ({ skip }) => {
    if (whyNot) skip(whyNot);
    const [rule] = named(render({ ...required, prometheusRule: { enabled: true } }), 'PrometheusRule');
    expect(rule!.spec).toEqual(parse(documentAt('deploy/helm/alerts.yaml')));
  });

  test('the dashboard is the file of deploy/grafana, and the sidecar finds it', ({ skip }) => {
    if (whyNot) skip(whyNot);
    const [dashboard] = named(render({ ...required, grafanaDashboard: { enabled: true } }), 'ConfigMap');
    expect(dashboard!.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    const { data } = dashboard as unknown as { data: Labels };
    expect(JSON.parse(data['holdfast.json']!)).toEqual(
      JSON.parse(documentAt('deploy/grafana/holdfast.json')),
    );
  });

  test('the types would tell a field that Kubernetes does not know, and a wrong value', () => {
    const template = { spec: { containers: [{ name: 'x' }] } };
    const specs = [
      { selector: {}, template, replica: 2 },
      { selector: {}, template, replicas: 'two' },
      { template },
    ];
    const wrong = specs.map((spec) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'x' },
      spec,
    }));
    const complaints = complaintsAbout(wrong as unknown as Manifest[]);
    expect(complaints).toHaveLength(3);
    for (const [index, word] of ['replica', 'number', 'selector'].entries())
      expect(complaints[index]).toContain(word);
  });
});

describe('values.schema.json', () => {
  const validate = new Ajv({ strict: false }).compile(
    JSON.parse(documentAt('deploy/helm/values.schema.json')),
  );

  test.each([required, everything])('takes %j', (given) => {
    expect(validate(withDefaults(given)), JSON.stringify(validate.errors)).toBe(true);
  });

  test.each([
    ['no image', { publicUrl: required.publicUrl }],
    ['no address', { image: required.image }],
    ['an address with a path', { ...required, publicUrl: 'https://h.example/holdfast' }],
    ['a misspelt value', { ...required, web: { replica: 2 } }],
    ['no replicas', { ...required, worker: { replicas: 0 } }],
    ['a setting that is a number', { ...required, settings: { PORT: 3000 } }],
    ['a monitor without a token', { ...required, serviceMonitor: { enabled: true } }],
    ['a proxy that is no address', { ...required, trustedProxies: ['ingress.example'] }],
    ['proxies in one text', { ...required, trustedProxies: '10.0.0.0/8' }],
    ['a label of the chart', { ...required, podLabels: { 'app.kubernetes.io/component': 'x' } }],
    ['a start of no time', { ...required, startupSeconds: 0 }],
    ['a volume without a name', { ...required, extraVolumes: [{ emptyDir: {} }] }],
    ['a digest that is none', { ...required, image: { ...required.image, digest: 'latest' } }],
  ])('refuses %s', (_, given) => expect(validate(withDefaults(given))).toBe(false));

  test('it knows every value of values.yaml, and no other', () => {
    const { properties } = JSON.parse(documentAt('deploy/helm/values.schema.json')) as { properties: object };
    const names = Object.keys(properties).filter((name) => name !== 'global');
    expect(Object.keys(defaults).toSorted()).toEqual(names.toSorted());
  });

  test('the README explains each value', () => {
    const readme = documentAt('deploy/helm/README.md');
    for (const name of Object.keys(defaults)) expect(readme).toContain(`\`${name}\``);
  });
});
