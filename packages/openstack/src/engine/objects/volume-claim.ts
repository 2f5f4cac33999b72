import { labelsOf, retainedFor, retainedForLabel } from '../names/names.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Service, Volume } from '../vocabulary/service.ts';
import type { Desired } from '../vocabulary/step.ts';

/** The claim `<name>-<suffix>` of a service's volume. */
export function volumeClaim(service: Service, context: Context, volume: Volume): Desired {
  const { suffix, size, storageClassName, accessMode = 'ReadWriteOnce' } = volume;
  const retained = context.spec.deletionPolicy !== 'Delete';
  return {
    verb: 'apply',
    object: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: context.named(suffix),
        namespace: context.namespace,
        labels: {
          ...labelsOf(service.name, context.name),
          ...(retained ? { [retainedForLabel]: retainedFor(context.resource) } : {}),
        },
      },
      spec: {
        accessModes: [accessMode],
        ...(storageClassName === undefined ? {} : { storageClassName }),
        resources: { requests: { storage: size } },
      },
    },
    ...(retained ? { retained } : {}),
  };
}
