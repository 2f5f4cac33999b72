import { controllerOf, type KubeObject, keyOf } from '@openstack-operator/kube';
import type { Mistake } from './admission.ts';
import { bytesOf, largestData, largestField, mebibytes } from './object-size.ts';
import { objectsOf, type Rendered } from './render.ts';

/** What an API server would refuse of the objects that a resource comes to, which no field of it shows by itself. */
export function objectMistakes({ composition }: Rendered): Mistake[] {
  return objectsOf(composition).flatMap((object) => {
    if (object.kind !== 'ConfigMap' && object.kind !== 'Secret') return [];
    const data = { ...(object['data'] as object | undefined), ...(object['stringData'] as object | undefined) };
    const bytes = bytesOf(data);
    if (bytes <= largestData) return [];
    const file = largestField(data).replaceAll(/^\["|"\]$/gu, '');
    const most = file === '' ? '' : `, most of it in ${file}`;
    return [
      {
        field: 'spec.config',
        message: `${object.kind} ${keyOf(object)} comes to ${mebibytes(bytes)}${most}; the API server takes at most ${mebibytes(largestData)}: shorten it`,
      },
    ];
  });
}

/**
 * Public host names of a resource that are those of another one of its cloud, where a Gateway would have to tell them apart.
 * Two clouds in one file have the same by default, and each may have a Gateway of its own, or none.
 */
export function hostnameMistakes(rendered: readonly Rendered[]): { resource: KubeObject; mistake: Mistake }[] {
  const owners = new Map<string, { resource: KubeObject; field: string }>();
  return rendered.flatMap(({ resource }) => {
    const spec = (resource.spec ?? {}) as Record<string, unknown>;
    // A Service of their own has ports that tell them apart.
    if (spec['exposure'] !== undefined && spec['exposure'] !== 'Gateway') return [];
    const {
      name: gateway = '',
      namespace = resource.metadata.namespace ?? '',
      listenerName = '',
    } = (spec['gatewayRef'] ?? {}) as { name?: string; namespace?: string; listenerName?: string };
    return ['publicHostname', 'consolePublicHostname'].flatMap((name) => {
      const host = spec[name];
      if (typeof host !== 'string') return [];
      const cloud = controllerOf(resource)?.uid ?? '';
      const place = JSON.stringify([host, cloud, namespace, gateway, listenerName]);
      const other = owners.get(place);
      if (other === undefined) owners.set(place, { resource, field: `spec.${name}` });
      if (other === undefined) return [];
      const message = `${JSON.stringify(host)} is ${other.field} of the ${other.resource.kind} ${keyOf(other.resource)} as well, and a Gateway tells APIs apart by their host names: give each its own`;
      return [{ resource, mistake: { field: `spec.${name}`, message } }];
    });
  });
}
