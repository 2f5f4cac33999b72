import { X509Certificate } from 'node:crypto';
import {
  controllerReference,
  type Random,
  type StoredObject,
  seededRandom,
  timestamp,
  virtualClock,
} from '@openstack-operator/kube';
import { annotations, type Generator, type Live, planGenerated } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import type { ComposeContext } from '../context.ts';
import { updateSecret } from './generate.ts';
import { decodeData, encodeData, generateValues } from './values.ts';

const minute = 60_000;
const year = 365 * 86_400_000;

const authority: Readonly<Record<string, Generator>> = {
  'ca.key': { type: 'privateKey' },
  'ca.crt': { type: 'certificate', key: 'ca.key', commonName: 'db authority', seconds: 3650 * 86_400, authority: true },
};
const leaf = (secret?: string): Readonly<Record<string, Generator>> => ({
  'tls.key': { type: 'privateKey' },
  'tls.crt': {
    type: 'certificate',
    key: 'tls.key',
    commonName: 'db',
    seconds: 90 * 86_400,
    signedBy: { certificate: 'ca.crt', key: 'ca.key', ...(secret === undefined ? {} : { secret }) },
  },
});

const meta = (name: string) => ({ name, namespace: 'openstack', uid: name, resourceVersion: '1' });
const resource = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'MariaDB', metadata: meta('db') } as StoredObject;

const blocks = (text: string) =>
  (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu) ?? []).map(
    (one) => new X509Certificate(one),
  );

const known = new Map<string, boolean>();

/** Whether one of some authorities has signed a certificate. */
function isTrusted(authorities: string, certificate: string): boolean {
  const pair = `${authorities} ${certificate}`;
  const signed = () =>
    blocks(authorities).some((one) => {
      const [shown] = blocks(certificate);
      return shown?.checkIssued(one) === true && shown.verify(one.publicKey);
    });
  const result = known.get(pair) ?? signed();
  known.set(pair, result);
  return result;
}

/** What a pod has of the Secrets, which it reads some time after they change. */
interface PodLife {
  readonly name: string;
  readonly job?: true;
  /** It reads the certificate of the authority at its start alone, and is replaced when that changes. */
  readonly once?: true;
  created: number;
  /** When its kubelet came back; undefined while that is away. */
  ready: number | undefined;
  trusts: string;
  shows: string;
  /** When it reads the Secrets next. */
  reads: number;
}

/**
 * A world with a Secret that has an authority, one with a certificate that it signs (`own`: the same Secret), one with a copy of
 * the authority's certificate, which another resource keeps, and pods that show and trust them. Time passes in steps.
 */
class World {
  readonly clock = virtualClock();
  readonly random: Random;
  readonly own: boolean;
  secrets: StoredObject[] = [];
  pods: PodLife[] = [];
  asked: string | undefined;
  /** Whether who keeps the copy, and who keeps the further certificate, are at work. */
  copies = true;
  signs = true;

  constructor(seed: number, own: boolean) {
    this.random = seededRandom(seed);
    this.own = own;
    const made = (values: Readonly<Record<string, Generator>>) =>
      generateValues(
        values,
        {},
        { random: this.random, now: this.clock.now(), other: (_of, key) => this.value('db-tls', key) },
      );
    this.put('db-tls', made(this.own ? { ...authority, ...leaf() } : authority));
    if (!own) this.put('api-tls', made(leaf('db-tls')));
    this.put('copy', { list: JSON.stringify({ ca: this.value('db-tls', 'ca.crt') }) });
    this.pods = ['server', 'client', 'agent', 'skyline', 'job'].map((name) => ({
      name,
      ...(name === 'job' ? { job: true as const } : {}),
      ...(name === 'skyline' ? { once: true as const } : {}),
      created: this.clock.now(),
      ready: this.clock.now(),
      trusts: this.value('db-tls', 'ca.crt'),
      shows: this.shown(),
      reads: 0,
    }));
  }

  /** A whole number from 0 to below `n`. */
  below(n: number): number {
    return Math.floor(this.random.next() * n);
  }

  value(name: string, key: string): string {
    return decodeData(this.secrets.find(({ metadata }) => metadata.name === name)?.['data'])[key] ?? '';
  }

  shown(): string {
    return this.value(this.own ? 'db-tls' : 'api-tls', 'tls.crt');
  }

  put(name: string, values: Readonly<Record<string, string>>, metadata: object = {}): void {
    const controlled = { ...meta(name), ownerReferences: [controllerReference(resource)], ...metadata };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: controlled, data: encodeData(values) } as StoredObject;
    this.secrets = [...this.secrets.filter((one) => one.metadata.name !== name), secret];
  }

  podObjects(): StoredObject[] {
    return this.pods.map(({ name, job, once, created, ready }) => {
      const at = (time: number) => timestamp({ now: () => time });
      const secretName = name === 'job' ? 'copy' : 'db-tls';
      const volumes = [
        { secret: { secretName, ...(once === true ? {} : { items: [] }) } },
        ...(name === 'server' && !this.own ? [{ secret: { secretName: 'api-tls', items: [] } }] : []),
      ];
      return {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          ...meta(name),
          creationTimestamp: at(created),
          labels: job === true ? { 'batch.kubernetes.io/controller-uid': 'job' } : {},
        },
        spec: { nodeName: 'node', volumes },
        status: {
          phase: 'Running',
          conditions: [
            { type: 'Ready', status: ready === undefined ? 'False' : 'True', lastTransitionTime: at(ready ?? created) },
          ],
        },
      };
    });
  }

  /** One reconcile of a Secret, and what it does. */
  async plan(name: string, values: Readonly<Record<string, Generator>>, more: object = {}): Promise<void> {
    const cache = {
      get: (_kind: unknown, ref: { name: string }) => this.secrets.find(({ metadata }) => metadata.name === ref.name),
    };
    const live = {
      resource,
      cache,
      now: this.clock.now(),
      finishedJobs: {},
      secrets: () => this.secrets,
      pods: () => this.podObjects(),
    } as unknown as Live;
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'openstack' } };
    const desired = { verb: 'generate', object, values, secretClass: 'credential', ...more } as const;
    const client = {
      replace: (_kind: unknown, written: StoredObject) => {
        this.put(name, decodeData(written['data']), written.metadata);
      },
    };
    const readable = { ...cache, has: () => true };
    const context = { client, cache: readable, random: this.random, clock: this.clock } as unknown as ComposeContext;
    for (const action of planGenerated(live, desired, 'CredentialsReady').actions) {
      if (action.verb !== 'update') throw new Error(`unexpected action ${action.verb}`);
      await updateSecret(context, action);
    }
  }

  async reconcile(): Promise<void> {
    const succession = this.asked === undefined ? {} : { asked: this.asked };
    await this.plan('db-tls', this.own ? { ...authority, ...leaf() } : authority, { authority: succession });
    if (!this.own && this.signs) await this.plan('api-tls', leaf('db-tls'));
    if (this.copies) this.put('copy', { list: JSON.stringify({ ca: this.value('db-tls', 'ca.crt') }) });
  }

  /** Pods read Secrets now and then, as long as their kubelets are there; what reads them once is replaced. */
  async pass(milliseconds: number): Promise<void> {
    await this.clock.advance(milliseconds);
    const now = this.clock.now();
    for (const pod of this.pods) {
      const trusts = pod.job === true ? this.copied() : this.value('db-tls', 'ca.crt');
      const shows = this.shown();
      if (pod.once === true || pod.job === true) {
        if (pod.trusts !== trusts && this.below(20) === 0)
          Object.assign(pod, { created: now, ready: now, trusts, shows });
      } else if (pod.ready !== undefined && now >= pod.reads)
        Object.assign(pod, { trusts, shows, reads: now + this.below(8) * minute });
    }
  }

  /** The kubelet of a pod goes away, or comes back. */
  turn(pod: PodLife): void {
    const now = this.clock.now();
    Object.assign(pod, { ready: pod.ready === undefined ? now : undefined, reads: now + this.below(8) * minute });
  }

  copied(): string {
    return (JSON.parse(this.value('copy', 'list')) as { ca: string }).ca;
  }

  /** Pods that do not trust who has signed what another one shows: those do that read it again and again. */
  strangers(): string[] {
    const servers = this.pods.filter(({ once, job }) => once !== true && job !== true);
    return this.pods.flatMap((client) =>
      servers.flatMap(({ name, shows }) =>
        isTrusted(client.trusts, shows) ? [] : [`${client.name} does not trust ${name}`],
      ),
    );
  }

  isDone(): boolean {
    const secret = this.secrets.find(({ metadata }) => metadata.name === 'db-tls');
    const isFollowed = secret?.metadata.annotations?.[annotations.rotatedFor] === this.asked;
    return isFollowed && blocks(this.value('db-tls', 'ca.crt')).length === 1 && this.value('db-tls', 'next.key') === '';
  }
}

test.each([true, false])(
  'whoever is slow, away or at rest: nobody meets a certificate that he does not trust (own: %s)',
  async (own) => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const world = new World(seed, own);
      const former = world.value('db-tls', 'ca.crt');
      await world.pass(minute);
      world.asked = `request ${seed}`;
      for (let round = 0; !world.isDone(); round += 1) {
        if (round > 2000) throw new Error(`seed ${seed}: the authority is not replaced`);
        // The operator is away for a while, or has others to do.
        if (world.below(3) !== 0) await world.reconcile();
        expect({ seed, round, strangers: world.strangers() }).toEqual({ seed, round, strangers: [] });
        await world.pass((1 + world.below(120)) * 1000);
        expect({ seed, round, strangers: world.strangers() }).toEqual({ seed, round, strangers: [] });
        if (world.below(world.copies ? 20 : 3) === 0) world.copies = !world.copies;
        if (world.below(world.signs ? 20 : 3) === 0) world.signs = !world.signs;
        const pod = world.pods[world.below(3)];
        if (pod !== undefined && world.below(pod.ready === undefined ? 3 : 20) === 0) world.turn(pod);
      }
      expect(world.value('db-tls', 'ca.crt')).not.toBe(former);
    }
  },
);

test('an authority is replaced when two thirds of its time are over, and not before', async () => {
  const world = new World(1, true);
  const [before] = blocks(world.value('db-tls', 'ca.crt'));
  const settle = async () => {
    for (let round = 0; round < 60; round += 1) {
      await world.reconcile();
      await world.pass(minute);
      for (const pod of world.pods) Object.assign(pod, { created: world.clock.now() });
    }
  };
  await world.pass(6 * year);
  await settle();
  expect(blocks(world.value('db-tls', 'ca.crt'))[0]?.fingerprint).toBe(before?.fingerprint);
  await world.pass(year);
  await settle();
  const [after, ...others] = blocks(world.value('db-tls', 'ca.crt'));
  expect(others).toEqual([]);
  expect(after?.subject).toBe('CN=db authority 2');
  expect(after?.verify(before?.publicKey ?? after.publicKey)).toBe(false);
});

test('what somebody has added to the file stays there, and its lines do not run into each other', async () => {
  const world = new World(2, true);
  const source = { random: world.random, now: world.clock.now(), other: () => '' };
  const added = generateValues({ ...authority }, {}, source)['ca.crt'] ?? '';
  const file = () => world.value('db-tls', 'ca.crt');
  const [first] = world.secrets;
  world.put('db-tls', { ...decodeData(first?.['data']), 'ca.crt': (file() + added).trim() });
  const before = file();
  for (let round = 0; round < 3; round += 1) {
    await world.reconcile();
    await world.pass(minute);
  }
  expect(file()).toBe(before);

  world.asked = 'first';
  const isDone = () => blocks(file())[0]?.subject === 'CN=db authority 2' && blocks(file()).length === 2;
  const lengths = new Set<number>();
  for (let round = 0; round < 500 && !isDone(); round += 1) {
    await world.reconcile();
    await world.pass(minute);
    lengths.add(blocks(file()).length);
    expect(file()).not.toMatch(/-----END CERTIFICATE-----[^\n]/u);
    expect(file()).toContain(added.trim());
    // Whatever reads the file once is replaced by then.
    for (const pod of world.pods) Object.assign(pod, { created: world.clock.now() });
    expect(world.strangers()).toEqual([]);
  }
  expect(isDone()).toBe(true);
  expect([...lengths]).toEqual([3, 2]);
});
