import { type Api, children, composeControlPlane, crd, kinds, surroundingsOf } from '@openstack-operator/openstack';
import { pruneUnknown, resourceTypeFromCrd } from '@openstack-operator/sandbox/schema';
import { expect, test } from 'vitest';
import { resourceOf, wrongResources } from '../../kubernetes/conformance/wrong-resources.ts';

const controlPlane = kinds.find(({ kind }) => kind === 'OpenStackControlPlane') as Api;
/** A prime, so that no way to be wrong is left out: each composes a whole control plane. */
const TRIES_ONE_OF = 7;
/** Of kinds with fewer ways to be wrong all are tried. */
const FEW = 15 * TRIES_ONE_OF;

const type = resourceTypeFromCrd(crd(controlPlane), controlPlane.version);

/** The specs of a control plane with one mistake in a service, as they are stored: those that its definition admits. */
function* admitted(service: string, api: Api) {
  const all = [...wrongResources(api)];
  for (const { field, way, content } of all.filter((_wrong, at) => all.length < FEW || at % TRIES_ONE_OF === 0)) {
    if (typeof content.spec !== 'object' || content.spec === null || Array.isArray(content.spec)) continue;
    const wrong = { field, way, content: { spec: { [service]: content.spec } } };
    const object = structuredClone(resourceOf(controlPlane, wrong, 'openstack'));
    pruneUnknown(type.schema, object);
    type.prepareForCreate(object);
    if (type.validateCreate(object).length === 0) yield { field, way, object };
  }
}

test.each(children.map(({ field, kind }) => [field, kinds.find((one) => one.kind === kind) as Api] as const))(
  'a control plane is composed whatever its definition lets through in spec.%s: the dry run tells what is wrong',
  (service, api) => {
    let tried = 0;
    const failures = [...admitted(service, api)].flatMap(({ field, way, object }) => {
      tried++;
      try {
        composeControlPlane(object as never, surroundingsOf());
        return [];
      } catch (error) {
        return [{ field, way, error }];
      }
    });
    expect(tried).toBeGreaterThan(5);
    expect(failures).toEqual([]);
  },
);
