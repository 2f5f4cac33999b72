import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type IssuerRef, isSameIssuer } from '../api/issuer.ts';
import { settledTls, type TlsState, tlsState } from '../engine/status/tls-steps.ts';
import type { Progress } from '../engine/vocabulary/step.ts';
import { surroundingsOf } from '../engine/vocabulary/surroundings.ts';
import { children } from './children.ts';
import type { ControlPlaneSpec } from './spec.ts';
import { apiTls, tlsOf, tlsStep } from './tls.ts';

interface Told {
  readonly enabled?: boolean;
  readonly issuerRef?: IssuerRef;
}

const [keystone, mariadb, nova] = ['Keystone', 'MariaDB', 'Nova'].map((kind) =>
  children.find((child) => child.kind === kind),
);
const isReady = (ready: boolean): readonly Progress[] => [
  { condition: 'KeystoneReady', status: ready ? 'True' : 'False', reason: 'Done', message: '' },
];

/** A cloud that is deployed, and what its children are told from one reconcile to the next. */
function cloud(first: Told | undefined) {
  let settled: TlsState | undefined;
  let there: Readonly<Record<string, Told | undefined>> = {};
  const reconcile = (tls: Told | undefined, done: boolean) => {
    const spec = tls === undefined ? {} : { tls };
    const peerSpecs = Object.fromEntries(
      Object.entries(there).map(([kind, told]) => [kind, told === undefined ? {} : { tls: told }]),
    );
    const known = surroundingsOf({ peerSpecs, ...(settled === undefined ? {} : { tls: settled }) });
    const composed = apiTls(spec, known);
    const [keystoneTold, serverTold, novaTold] = [keystone, mariadb, nova].map(
      (child) => child && tlsOf({ spec, tls: composed }, child),
    );
    const told = { Keystone: keystoneTold, MariaDB: serverTold, Nova: novaTold };
    const isChanged = JSON.stringify(there) !== JSON.stringify(told);
    there = told;
    settled = settledTls(composed, isReady(done && !isChanged));
    return { keystone: keystoneTold, server: serverTold, nova: novaTold, isChanged, way: tlsStep(composed) };
  };
  for (let count = 0; count < 5; count += 1) reconcile(first, true);
  /** An earlier operator told this child nothing. */
  const forget = (kind: string) => {
    there = { ...there, [kind]: undefined };
  };
  return { reconcile, forget };
}

const [a, b] = ['a', 'b'].map((name) => ({ name }));

test('with another issuer all leave TLS, and come back to it, by themselves', () => {
  const { reconcile } = cloud({ enabled: true });
  const seen = Array.from({ length: 14 }, () => reconcile({ enabled: true, issuerRef: a as IssuerRef }, true));
  const told = (kind: 'keystone' | 'server') =>
    seen
      .map((one) => one[kind])
      .filter((one, index, all) => index === 0 || JSON.stringify(one) !== JSON.stringify(all[index - 1]));
  expect(told('keystone')).toEqual([
    { enabled: false },
    undefined,
    { enabled: false, issuerRef: a },
    { enabled: true, issuerRef: a },
  ]);
  expect(told('server')).toEqual([undefined, { enabled: false, issuerRef: a }, { enabled: true, issuerRef: a }]);
  expect(seen[0]?.way).toMatchObject([
    {
      condition: 'TLSReady',
      problem: { message: expect.stringContaining('spec.tls.issuerRef: another one is to sign') },
    },
  ]);
  expect(seen.at(-1)?.way).toEqual([]);
});

test('a server keeps the certificate of its issuer while TLS is disabled; then it gets one of ours while nothing else changes', () => {
  const { reconcile } = cloud({ enabled: true, issuerRef: a as IssuerRef });
  const times = (count: number, tls: Told | undefined) => Array.from({ length: count }, () => reconcile(tls, true));
  for (const { server } of times(2, { enabled: false, issuerRef: a as IssuerRef }))
    expect(server).toEqual({ enabled: false, issuerRef: a });
  expect(times(6, undefined).at(-1)).toMatchObject({ keystone: undefined, server: undefined });
});

test('what is its own client is able to before it serves by TLS, and from then on, whoever signs what others show', () => {
  const { reconcile, forget } = cloud(undefined);
  const told = (count: number, tls: Told | undefined, done = true) =>
    Array.from({ length: count }, () => reconcile(tls, done).nova);
  expect(told(1, undefined)).toEqual([undefined]);
  // However long it takes until all are.
  expect(told(4, { enabled: true }, false)).toEqual(Array.from({ length: 4 }, () => ({ enabled: false })));
  expect(told(8, { enabled: true }).at(-1)).toEqual({ enabled: true });
  expect(new Set(told(14, { enabled: true, issuerRef: a as IssuerRef }).map((one) => JSON.stringify(one)))).toEqual(
    new Set(['{"enabled":true}']),
  );
  expect(told(12, undefined)).toEqual(Array.from({ length: 12 }, () => ({ enabled: false })));
  expect(told(8, { enabled: true }).at(-1)).toEqual({ enabled: true });

  forget('Nova');
  expect(told(3, { enabled: true }, false)).toEqual(Array.from({ length: 3 }, () => ({ enabled: false })));
  expect(told(3, { enabled: true }).at(-1)).toEqual({ enabled: true });
});

test('the same issuer in other words is no other one', () => {
  const { reconcile } = cloud({ enabled: true, issuerRef: a as IssuerRef });
  const { way, keystone: told } = reconcile({ enabled: true, issuerRef: { name: 'a', kind: 'Issuer' } }, true);
  expect(way).toEqual([]);
  expect(told).toEqual({ enabled: true, issuerRef: a });
});

test('however often somebody changes his mind, no client that connects by TLS meets a certificate that it does not trust, and no server starts anew beside its clients', () => {
  const wishes = [undefined, { enabled: true }, { enabled: true, issuerRef: a }, { enabled: true, issuerRef: b }];
  const events = fc.array(fc.tuple(fc.constantFrom('wish', 'reconcile', 'settle', 'settle'), fc.nat(3)), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(events, (steps) => {
      let wish: Told | undefined;
      const { reconcile } = cloud(undefined);
      // What clients may still be as they were told, the present one among them.
      let inUse: readonly { readonly keystone: Told | undefined; readonly server: Told | undefined }[] = [];
      for (const [event, index] of steps) {
        if (event === 'wish') wish = wishes[index] as Told | undefined;
        else {
          const { keystone: api, server, isChanged } = reconcile(wish, event === 'settle');
          const before = inUse.at(-1);
          // Clients that are replaced might take the place of a server that starts anew.
          if (before !== undefined && !isSameIssuer(before.server?.issuerRef, server?.issuerRef))
            expect(api).toEqual(before.keystone);
          inUse =
            event === 'settle' && !isChanged ? [{ keystone: api, server }] : [...inUse, { keystone: api, server }];
          for (const client of inUse) {
            if (tlsState(client.keystone) === 'Enabled') {
              expect(tlsState(api)).not.toBe('Off');
              expect(api?.issuerRef).toEqual(client.keystone?.issuerRef);
            }
            if (client.server?.enabled === true) expect(server?.issuerRef).toEqual(client.server.issuerRef);
            // The server lags behind as they do.
            if (server?.issuerRef !== undefined && server.enabled === true)
              expect(client.server?.issuerRef).toEqual(server.issuerRef);
          }
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('how long certificates are valid is told with the rest, and does not say by itself whether TLS is used', () => {
  const told = (spec: ControlPlaneSpec) => {
    const composed = apiTls(spec, surroundingsOf({ peerSpecs: {}, ...(spec.tls && { tls: 'Enabled' }) }));
    return [keystone, mariadb].map((child) => child && tlsOf({ spec, tls: composed }, child));
  };
  const enabled = { enabled: true };
  expect(told({ tls: { ...enabled, duration: '24h' }, mariadb: { tls: { duration: '10m' } } })).toEqual([
    { ...enabled, duration: '24h' },
    { ...enabled, duration: '10m' },
  ]);
  expect(told({ tls: enabled, keystone: { tls: { duration: '10m' } } })).toEqual([
    { ...enabled, duration: '10m' },
    enabled,
  ]);
  expect(told({ keystone: { tls: { duration: '10m' } } })[0]).toBeUndefined();
  expect(told({ tls: enabled, mariadb: { tls: { enabled: false, duration: '10m' } } })[1]).toEqual({
    enabled: false,
    duration: '10m',
  });
});
