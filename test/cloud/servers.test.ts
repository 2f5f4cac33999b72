import { parseTimestamp } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { addresses, admin, guests, member, tiny } from './fixture.ts';
import { controlPlane } from './kubernetes.ts';
import { openstack, prefix } from './running-cloud.ts';
import type { ServerState } from './server.ts';

test('a server that was asked for in the second after Ready is ACTIVE', async ({ skip }) => {
  const query = { all_projects: true, name: '^first$' };
  const [first] = await admin.call<ServerState[]>('compute.servers', query);
  if (first === undefined) return skip('make cloud made no server');
  const { conditions } = (await controlPlane()).status;
  const ready = conditions.find(({ type }) => type === 'Ready');
  expect(ready?.status).toBe('True');
  const later = (parseTimestamp(first.created_at) - parseTimestamp(ready?.lastTransitionTime ?? '')) / 1000;
  if (later < 0 || later > 10) return skip(`it was asked for ${later} s after Ready`);
  expect(first).toMatchObject({ status: 'ACTIVE', fault: null });
});

test('a server becomes ACTIVE with the address that was asked for', async () => {
  const { one } = await guests();
  const { status, power_state: power, addresses: has, fault } = await one.state();
  expect({ status, power, fault: fault ?? null }).toEqual({ status: 'ACTIVE', power: 1, fault: null });
  expect(has[`${prefix}near`]?.map(({ addr }) => addr)).toContain(addresses.one);
  const shown = await openstack<{ status: string; flavor: unknown }>('server', 'show', one.id);
  expect(shown.status).toBe('ACTIVE');
  expect(JSON.stringify(shown.flavor)).toContain(await tiny().then(() => `${prefix}tiny`));
});

test('the guest gets its address, the size of its packets and its routes by DHCP', async () => {
  const { one } = await guests();
  const [, address, mtu, routes] = await one.says(/== ADDRESS (\S+) on eth0, mtu (\d+), routes (.*), router/);
  expect(address).toBe(`${addresses.one}/24`);
  expect(Number(mtu)).toBeLessThan(1500);
  expect(routes).toContain('0.0.0.0/0 10.30.0.1');
  expect(routes).toContain('169.254.169.254/32');
});

test('the guest gets its metadata', async () => {
  const { one } = await guests();
  const [, text = ''] = await one.says(/== METADATA (\{.*\})$/m);
  expect(JSON.parse(text)).toMatchObject({
    uuid: one.id,
    name: `${prefix}one`,
    project_id: (await member()).projectId,
    meta: { purpose: 'acceptance' },
  });
});

test('the guest gets its user-data and runs it', async () => {
  const { one } = await guests();
  const [, text] = await one.says(/== USER-DATA BEGIN\n([\s\S]*?)\n== USER-DATA END/);
  expect(text?.trim()).toBe('#!/bin/sh\necho "== SCRIPT says $((6 * 7))"');
  await one.says(/^== SCRIPT says 42$/m);
  await one.says(/^== USER-DATA EXIT 0$/m);
  await one.says(new RegExp(`^== READY ${prefix}one`, 'm'));
});
