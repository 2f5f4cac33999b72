import type { Context } from './context.ts';
import { labelsOf, retainedFor, retainedForLabel } from './names.ts';
import type { Service, Volume } from './service.ts';
import type { Desired } from './step.ts';

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
