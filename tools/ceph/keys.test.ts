import { expect, test } from 'vitest';
import { administrator, identityFrom, keyring, monitorKeyring, newKey, users } from './keys.ts';

test('a key has the form of those that Ceph makes', () => {
  // Little-endian: kind, seconds, nanoseconds, length. Real monitors are made with such keys in test/cloud/storage.
  const key = newKey(1_767_225_600, Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex'));
  expect(key).toBe('AQAAuVVpAAAAABAAAAECAwQFBgcICQoLDA0ODw==');
  expect(newKey()).toMatch(/^AQ[\w+/]{36}==$/);
  expect(newKey()).not.toBe(newKey());
});

test('what is known of an identity stays, what is new is made', () => {
  const { fsid, osd, keys } = identityFrom({});
  const { 'client.nova': _, ...older } = keys;
  const again = identityFrom({ fsid, osd, ...older });
  expect(again).toEqual({ fsid, osd, keys: { ...older, 'client.nova': expect.stringMatching(/^AQ/) } });
});

test('a monitor is told of everybody, with their rights; a user of its own key alone', () => {
  const identity = identityFrom({});
  const text = monitorKeyring(identity);
  for (const { name } of [administrator, ...users])
    expect(text).toContain(`[${name}]\n\tkey = ${identity.keys[name]}\n`);
  expect(text).toContain(
    '\tcaps osd = "profile rbd pool=volumes, profile rbd pool=vms, profile rbd-read-only pool=images"\n',
  );
  expect(keyring(identity, { name: 'client.cinder' })).toBe(
    `[client.cinder]\n\tkey = ${identity.keys['client.cinder']}\n`,
  );
});
