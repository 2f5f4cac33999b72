import { composedMistakes, soundPart, validateResource } from '@openstack-operator/cli';
import { type Api, children, kinds } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { resourceOf, type WrongResource, wrongResources } from '../../kubernetes/conformance/wrong-resources.ts';

/** A prime, so that no way to be wrong is left out. */
const TRIES_ONE_OF = 37;
/** Of kinds with fewer ways to be wrong all are tried. */
const FEW = 3 * TRIES_ONE_OF;

const controlPlane = kinds.find(({ kind }) => kind === 'OpenStackControlPlane') as Api;

/** Composes what is sound of resources with one mistake each; gives how many could be. */
function composed(api: Api, wrong: Iterable<WrongResource>): number {
  let composed = 0;
  const all = [...wrong];
  for (const one of all.filter((_wrong, position) => all.length < FEW || position % TRIES_ONE_OF === 0)) {
    const resource = resourceOf(api, one, 'openstack');
    const part = soundPart(resource, validateResource(resource));
    if (part === undefined) continue;
    expect(() => composedMistakes([part.object]), `${one.field}: ${one.way}`).not.toThrow();
    composed++;
  }
  return composed;
}

test.each(kinds.map((api) => [api.kind, api] as const))(
  'what is left of a %s without its mistake is composed, whatever the mistake',
  (_kind, api) => {
    expect(composed(api, wrongResources(api))).toBeGreaterThan(1);
  },
);

test.each(children.map(({ field, kind }) => [field, kinds.find((one) => one.kind === kind) as Api] as const))(
  'so is a control plane without the mistake in its spec.%s',
  (service, api) => {
    const whole = [...wrongResources(api)].map((wrong) => ({
      ...wrong,
      content: { spec: { [service]: wrong.content.spec ?? {} } },
    }));
    expect(composed(controlPlane, whole)).toBeGreaterThan(1);
  },
);
