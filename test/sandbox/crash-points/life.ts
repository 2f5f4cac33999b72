import { Secret } from '@openstack-operator/kube';
import { annotations, conditionOf, kindOf } from '@openstack-operator/openstack';
import { type Cloud, controlPlane, identityOnly } from '../rollout/cloud.ts';
import { builtIn } from '../rollout/normalise.ts';
import type { Course } from './courses.ts';

/** One thing that is done to a cloud, and when it has been dealt with. */
export interface Phase {
  readonly name: string;
  readonly act: (cloud: Cloud) => Promise<unknown>;
  readonly done: (cloud: Cloud) => boolean;
}

/** What differs between the lives of clouds of different size. */
interface Size {
  /** The control plane at first. */
  readonly spec: Record<string, unknown>;
  /** A field that ends in a configuration file, an image and a number of replicas, in one change. */
  readonly reconfiguration: Record<string, unknown>;
  readonly scaled: Record<string, unknown>;
}

const image = (name: string) => `registry.example.org/openstack.kolla/${name}:2025.1-debian-bookworm`;

/** Only database, cache and Keystone. */
export const small: Size = {
  spec: identityOnly,
  reconfiguration: {
    keystone: { tokenExpiration: 7200, components: { api: { replicas: 2 } } },
    memcached: { images: { server: image('memcached') } },
  },
  scaled: { keystone: { components: { api: { replicas: 1 } } } },
};

/** The whole minimal cloud. */
export const whole: Size = {
  spec: {},
  reconfiguration: {
    keystone: { tokenExpiration: 7200 },
    nova: { images: { conductor: image('nova-conductor') }, components: { scheduler: { replicas: 2 } } },
  },
  scaled: { nova: { components: { scheduler: { replicas: 1 }, conductor: { replicas: 2 } } } },
};

const ref = (name: string) => ({ namespace: 'openstack', name });

/** Puts a patch on a cloud's control plane. */
const patched = (cloud: Cloud, patch: object) =>
  cloud.settle(cloud.rehearsal.sandbox.client().patch(kindOf(controlPlane()), ref('my-cloud'), 'merge', patch));

const deletion: Phase = {
  name: 'deletion',
  act: (cloud) => cloud.settle(cloud.rehearsal.sandbox.client().delete(kindOf(controlPlane()), ref('my-cloud'))),
  done: gone,
};

/** A cloud that takes its course, and is deleted. */
export function lifeWith({ spec, bring, changes }: Course): readonly Phase[] {
  const rollout = async (cloud: Cloud) => {
    await bring?.(cloud);
    await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  };
  return [
    { name: 'rollout', act: rollout, done: ready },
    ...Object.entries(changes).map(([name, { patch, arrived }]) => ({
      name,
      act: (cloud: Cloud) => patched(cloud, patch),
      done: (cloud: Cloud) => ready(cloud) && arrived(cloud),
    })),
    deletion,
  ];
}

/** All that is done to a cloud from its beginning to its end. */
export function lifeOf({ spec, reconfiguration, scaled }: Size): readonly Phase[] {
  const change = (cloud: Cloud, to: object) => patched(cloud, { spec: to });
  const secret = (cloud: Cloud, name: string, patch: object) =>
    cloud.settle(cloud.rehearsal.sandbox.client().patch(Secret, ref(name), 'merge', patch));
  const changing = (name: string, act: Phase['act']): Phase => ({ name, act, done: ready });
  return [
    changing('rollout', (cloud) => cloud.settle(cloud.rehearsal.create(controlPlane(spec)))),
    changing('reconfiguration', (cloud) => change(cloud, reconfiguration)),
    changing('scale', (cloud) => change(cloud, scaled)),
    changing('rotation of a password', (cloud) =>
      secret(cloud, 'my-cloud-keystone-db-password', {
        data: { password: Buffer.from('another-password-0123').toString('base64') },
      }),
    ),
    // What says no time of its last rotation is due now.
    changing('rotation of keys', (cloud) =>
      secret(cloud, 'my-cloud-keystone-fernet-keys', {
        metadata: { annotations: { [annotations.rotatedAt]: 'never' } },
      }),
    ),
    deletion,
  ];
}

const { kind, apiVersion } = controlPlane();

/** Whether the control plane is Ready as it is stated now. Asked at every quiet moment. */
function ready(cloud: Cloud): boolean {
  const { store } = cloud.rehearsal.sandbox.api;
  const object = store.get(kindOf({ kind, apiVersion }), 'openstack/my-cloud');
  const condition = object && conditionOf(object, 'Ready');
  return condition?.status === 'True' && condition.observedGeneration === object?.metadata.generation;
}

/** Whether all that belonged to it is gone, but what it retains. */
function gone(cloud: Cloud): boolean {
  const { store } = cloud.rehearsal.sandbox.api;
  return (
    store.get(kindOf({ kind, apiVersion }), 'openstack/my-cloud') === undefined &&
    builtIn.every(
      ({ kind: one }) =>
        ['Secret', 'PersistentVolumeClaim', 'ConfigMap', 'HTTPRoute'].includes(one) ||
        cloud.list(one).every(({ metadata }) => metadata.namespace !== 'openstack'),
    )
  );
}
