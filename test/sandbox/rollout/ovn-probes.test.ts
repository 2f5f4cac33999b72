import { Pod } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { networkOnly, readyCloud } from './cloud.ts';

test('clients of a database of OVN may be silent for a minute, also of one that was there before', async () => {
  const { cloud } = await readyCloud({ spec: networkOnly });
  const ask = async (side: 'nb' | 'sb', ...words: string[]) => {
    const pod = { namespace: 'openstack', name: `my-cloud-ovn-${side}-db-0` };
    return (await cloud.settle(cloud.rehearsal.sandbox.pods.exec(pod, [`ovn-${side}ctl`, ...words]))).stdout;
  };
  const isSet = async (side: 'nb' | 'sb', port: number) =>
    expect(await ask(side, 'list', 'Connection')).toBe(
      [`ptcp:${port}`, `pssl:1${port}`]
        .map((target) => `target : "${target}:0.0.0.0"\ninactivity_probe : 60000\n`)
        .join('\n'),
    );
  await isSet('nb', 6641);
  await isSet('sb', 6642);
  expect(await ask('nb', 'get', 'nb_global', '.', 'options:northd_probe_interval')).toBe('"60000"\n');

  await ask('sb', 'set-connection', 'ptcp:6642:0.0.0.0');
  await cloud.remove(Pod, 'my-cloud-ovn-sb-db-0');
  await cloud.ready();
  await cloud.until(() => cloud.list('Pod').every(({ status }) => (status as { phase?: string }).phase === 'Running'));
  await cloud.clock.advance(5000);
  await isSet('sb', 6642);
});
