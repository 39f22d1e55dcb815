import { instantJson } from '../json/instant-json.ts';
import type { Api, Parts } from '../http/api.ts';
import { notFound } from '../http/github-error.ts';
import { requireApp } from './app-routes.ts';
import type { Delivery } from '../webhooks/webhooks.ts';

/** Webhook deliveries as the App sees them, newest first, and redelivery. */
export function deliveryRoutes(api: Api, { webhooks }: Parts): void {
  api.get('/app/hook/deliveries', (c) => {
    requireApp(c);
    const size = Math.min(Number(c.req.query('per_page') ?? 30), 100);
    const before = Number(c.req.query('cursor') ?? Infinity);
    const status = c.req.query('status');
    const all = webhooks.deliveries
      // A dropped delivery was never sent, so GitHub does not list it. One under way has no outcome yet.
      .filter(
        (each) =>
          (each.outcome === 'answered' || each.outcome === 'failed') &&
          each.id < before &&
          (!status || (status === 'success') === succeeded(each)),
      )
      .reverse();
    if (all.length > size) {
      const next = new URL(c.req.url);
      next.searchParams.set('cursor', String(all[size - 1]?.id));
      c.header('link', `<${next}>; rel="next"`);
    }
    return c.json(all.slice(0, size).map(deliveryJson));
  });

  api.get('/app/hook/config', (c) => {
    requireApp(c);
    return c.json({
      content_type: 'json',
      insecure_ssl: '0',
      secret: '********',
      url: webhooks.target ?? '',
    });
  });

  api.get('/app/hook/deliveries/:id', (c) => {
    requireApp(c);
    const delivery = webhooks.deliveries.find((each) => String(each.id) === c.req.param('id'));
    if (!delivery) throw notFound();
    return c.json({ ...deliveryJson(delivery), request: { payload: delivery.payload } });
  });

  api.post('/app/hook/deliveries/:id/attempts', (c) => {
    requireApp(c);
    const delivery = webhooks.deliveries.find((each) => String(each.id) === c.req.param('id'));
    if (!delivery) throw notFound();
    void webhooks.redeliver(delivery.guid);
    return c.json({}, 202);
  });
}

function succeeded({ statusCode }: Delivery): boolean {
  return statusCode !== null && statusCode < 400;
}

function deliveryJson(delivery: Delivery) {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: instantJson(delivery.deliveredAt),
    redelivery: delivery.redelivery,
    duration: delivery.duration / 1000,
    status:
      delivery.statusCode === null
        ? 'failed to connect to host'
        : succeeded(delivery)
          ? 'OK'
          : 'Invalid HTTP Response',
    status_code: delivery.statusCode ?? 0,
    event: delivery.event,
    action: delivery.action,
    installation_id: delivery.installationId,
    repository_id: delivery.repositoryId,
    throttled_at: null,
  };
}
