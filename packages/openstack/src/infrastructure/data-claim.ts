import type { Storage } from '../api/storage.ts';
import type { Claim } from '../engine/vocabulary/component.ts';

/** The volume claim named `data` of a StatefulSet, as `spec.storage` asks for it. */
export function dataClaim(storage: Storage | undefined, size: string): Claim {
  const { storageClassName } = storage ?? {};
  return {
    name: 'data',
    size: storage?.size ?? size,
    ...(storageClassName === undefined ? {} : { storageClassName }),
  };
}
