import { expect, test } from 'vitest';
import { admin, member } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { optionalService } from './optional-service.ts';

/** What Venus answers, at its internal endpoint: it has no other. */
async function asked(user: User, method: 'get' | 'post' | 'delete', path: string, json?: unknown) {
  const options = {
    raise_exc: false,
    endpoint_filter: { service_type: 'LMS', interface: 'internal' },
    ...(json === undefined ? {} : { json }),
  };
  const { status, text } = await user
    .connectedAnew()
    .call<{ status: number; text: string }>(`session.${method}`, `/v1${path}`, options);
  return { status, body: JSON.parse(text) as unknown };
}

test('settings and rules are kept, also while it is disabled; without logs a search finds none', async () => {
  const venus = optionalService('venus', 'venuses');
  const spec = { elasticsearchURL: 'http://opensearch.logging.svc:9200' };
  await venus({ ...spec, enabled: true });
  expect(await asked(admin, 'get', '/custom_config')).toEqual({
    status: 200,
    body: { log_save_days: '30', anomaly_record_save_days: '30', log_max_gb: '100' },
  });
  expect(await asked(admin, 'post', '/custom_config', { id: 'log_save_days', value: '7' })).toMatchObject({
    body: { code: 0 },
  });
  const rule = { title: `${prefix}rule`, desc: '', keyword: 'ERROR', log_type: 'flog', module: 'nova-api' };
  expect(await asked(admin, 'post', '/anomaly/rule', rule)).toEqual({ status: 200, body: { code: 0, msg: 'OK' } });
  expect(await asked(admin, 'get', '/search/params?type=host_name&index_type=flog')).toEqual({
    status: 200,
    body: { code: 0, msg: 'no data, no index' },
  });
  // Anybody with a token: the guide says so.
  expect((await asked(await member(), 'get', '/custom_config')).status).toBe(200);

  await venus({ ...spec, enabled: false });
  await venus({ ...spec, enabled: true });

  expect(await asked(admin, 'get', '/custom_config')).toMatchObject({ body: { log_save_days: '7' } });
  const { rules } = (await asked(admin, 'get', '/anomaly/rule/list?page_size=100')).body as {
    rules: readonly { readonly id: string; readonly title: string }[];
  };
  const kept = rules.find(({ title }) => title === rule.title);
  expect(kept).toMatchObject(rule);
  expect((await asked(admin, 'delete', `/anomaly/rule/${kept?.id}`)).status).toBe(200);
});
