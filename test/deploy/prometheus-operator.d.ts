// What the chart uses of the Prometheus operator's objects, as its API reference has them (monitoring.coreos.com/v1).
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';

type Selector = { matchLabels: Record<string, string> };
type SecretKey = { name: string; key: string; optional?: boolean };

export type ServiceMonitor = {
  apiVersion: 'monitoring.coreos.com/v1';
  kind: 'ServiceMonitor';
  metadata: ObjectMeta;
  spec: {
    jobLabel?: string;
    targetLabels?: string[];
    podTargetLabels?: string[];
    selector: Selector;
    endpoints: {
      /** The name of a port of the Service. */
      port?: string;
      path?: string;
      scheme?: 'http' | 'https';
      interval?: string;
      scrapeTimeout?: string;
      authorization?: { type?: string; credentials: SecretKey };
    }[];
  };
};

type Rule = {
  alert: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
};

export type PrometheusRule = {
  apiVersion: 'monitoring.coreos.com/v1';
  kind: 'PrometheusRule';
  metadata: ObjectMeta;
  spec: { groups: { name: string; interval?: string; rules: Rule[] }[] };
};
