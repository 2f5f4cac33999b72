import {
  controllerReference,
  Deployment,
  Job,
  type Kind,
  type KubeObject,
  type StoredObject,
} from '@openstack-operator/kube';
import type { Composition } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import type { ComposeContext } from '../context.ts';
import { adoptDigests } from './adopt-digests.ts';

const [mine, other] = ['keyaaaaaaa', 'keybbbbbbb'];
const [plain, plain2, whole, whole2] = ['templatexa', 'templatexb', 'wholexxxxa', 'wholexxxxb'];
const present = `${mine}.${plain}.${whole}`;
const credentials = 'openstack.k8s.io/credentials';
const owner: StoredObject = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Glance',
  metadata: { name: 'glance', namespace: 'openstack', uid: '1', resourceVersion: '1', creationTimestamp: '' },
};
const ownerReferences = [controllerReference(owner)];

function deployment(digest: string, adopted?: string): KubeObject {
  const annotations = adopted === undefined ? {} : { 'openstack.k8s.io/adopted-credentials': adopted };
  const template = { metadata: { annotations: { [credentials]: digest } } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'api', annotations, ownerReferences },
    spec: { template },
  };
}

function job(inputs: string, complete = false, image = 'now'): KubeObject {
  const metadata = { name: 'sync', ownerReferences, annotations: { 'openstack.k8s.io/inputs': inputs } };
  const conditions = complete ? [{ type: 'Complete', status: 'True' }] : [];
  const spec = { template: { spec: { containers: [{ image }] } } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec, status: { conditions } };
}

const composition = (...objects: readonly KubeObject[]): Composition => ({
  steps: [
    {
      condition: 'Step',
      needs: [],
      awaits: [],
      objects: objects.map((object) => ({ verb: 'apply', object }) as const),
    },
  ],
  complete: true,
  status: {},
});

function adopt(
  stated: KubeObject,
  live: KubeObject | undefined,
  { jobs = {}, former }: { jobs?: Record<string, string>; former?: KubeObject } = {},
) {
  const get = ({ kind }: Kind) => (kind === live?.kind ? (live as StoredObject) : undefined);
  const context = {
    object: owner,
    digestKey: { id: mine, bytes: new Uint8Array() },
    operatorImage: 'now',
    cache: { get },
  };
  const images: (string | undefined)[] = [];
  const adopted = adoptDigests(context as unknown as ComposeContext, composition(stated), {
    jobs,
    former: (image) => {
      images.push(image);
      return former && composition(former);
    },
  });
  const [desired] = adopted.composition.steps[0]?.objects ?? [];
  const object = desired !== undefined && 'object' in desired ? desired.object : undefined;
  return { ...adopted, object, images };
}

const digestIn = (object: KubeObject | undefined) => {
  const spec = object?.['spec'] as { template: { metadata: { annotations: Record<string, string> } } } | undefined;
  return spec?.template.metadata.annotations[credentials];
};

describe(`a ${Deployment.kind}`, () => {
  test.each<[string, KubeObject, string]>([
    ['of the present key is compared', deployment(`${mine}.${plain}.${whole2}`), present],
    ['of another key is adopted', deployment(`${other}.${plain}.${whole2}`), `${other}.${plain}.${whole2}`],
    ['whose template changed as well is not', deployment(`${other}.${plain2}.${whole2}`), present],
    ['that was adopted stays so', deployment(`${other}.${plain}.${whole2}`, present), `${other}.${plain}.${whole2}`],
    [
      'that was adopted as something else has changed since',
      deployment(`${other}.${plain}.${whole2}`, `${mine}.${plain}.${whole2}`),
      present,
    ],
    ['that was adopted with a lost key is adopted again', deployment('old', `${other}.${plain}.${whole2}`), 'old'],
    ['of a digest without key is adopted', deployment('old'), 'old'],
  ])('%s', (_what, live, expected) => {
    const { object } = adopt(deployment(present), live);
    expect(digestIn(object)).toBe(expected);
    const adopted = object?.metadata.annotations?.['openstack.k8s.io/adopted-credentials'];
    expect(adopted).toBe(expected === present ? undefined : present);
  });
});

describe(`a ${Job.kind}`, () => {
  const foreign = `${other}.${plain}.${whole2}`;
  const inputs = (object: KubeObject | undefined) => object?.metadata.annotations?.['openstack.k8s.io/inputs'];

  test('that ran with another key has run', () => {
    const { object, finishedJobs, adoptedJobs } = adopt(job(present), job(foreign, true));
    expect([inputs(object), finishedJobs, adoptedJobs.get('sync')]).toEqual([foreign, { sync: present }, present]);
  });

  test('that ran with another key, and whose Job is gone, has run', () => {
    const { object, finishedJobs } = adopt(job(present), undefined, { jobs: { sync: foreign } });
    expect([inputs(object), finishedJobs]).toEqual([present, { sync: present }]);
  });

  test('that was adopted runs again when its inputs change, and is remembered until it has', () => {
    const before = `${mine}.${plain}.${whole2}`;
    const { object, finishedJobs, adoptedJobs } = adopt(job(present), job(foreign, true), { jobs: { sync: before } });
    expect([inputs(object), finishedJobs, adoptedJobs.get('sync')]).toEqual([present, { sync: before }, before]);
  });

  test('that has not ended is not finished', () => {
    expect(adopt(job(present), job(foreign)).finishedJobs).toEqual({});
  });

  test('of a resource of the same name before it is not finished', () => {
    const live = job(foreign, true);
    const before = { ...live, metadata: { ...live.metadata, ownerReferences: [{ ...ownerReferences[0], uid: '0' }] } };
    expect(adopt(job(present), before as KubeObject).finishedJobs).toEqual({});
  });
});

describe('with the key that all clouds had', () => {
  test('the image of the operator of that time is taken from its Job', () => {
    const { finishedJobs, images } = adopt(job(present), job('old', true, 'then'), { former: job('old') });
    expect([finishedJobs, images]).toEqual([{ sync: present }, ['then']]);
  });

  test('what differs has changed, if the key is proven by another digest', () => {
    const both = composition(deployment(present), { ...deployment(present), metadata: { name: 'other' } });
    const live = new Map([
      ['api', deployment('old')],
      ['other', deployment('changed')],
    ]);
    const context = {
      object: owner,
      digestKey: { id: mine, bytes: new Uint8Array() },
      cache: { get: (_kind: Kind, { name }: { name: string }) => live.get(name) },
    } as unknown as ComposeContext;
    const former = (text: string) =>
      composition(deployment(text), { ...deployment(text), metadata: { name: 'other' } });
    const digests = (text: string) =>
      adoptDigests(context, both, { jobs: {}, former: () => former(text) }).composition.steps[0]?.objects.map(
        (desired) => ('object' in desired ? digestIn(desired.object) : undefined),
      );
    expect(digests('old')).toEqual(['old', present]);
    expect(digests('of another key')).toEqual(['old', 'changed']);
  });
});
