import type { Kind, KubeObject } from '@openstack-operator/kube';
import type { Stored } from './kinds.ts';

/** Reads objects as they are now. `key` is `namespace/name`. */
export interface ObjectReader {
  get<T extends KubeObject>(kind: Kind<T>, key: string): Stored<T> | undefined;
  list<T extends KubeObject>(kind: Kind<T>, namespace?: string): Stored<T>[];
}

/** Objects as they are and as they change. */
export interface ObjectSource extends ObjectReader {
  /** Called after each change, synchronously; `old` is what was there before, `object` is absent after a deletion. */
  subscribe<T extends KubeObject>(kind: Kind<T>, listener: (change: ObjectChange<T>) => void): () => void;
}

/** One change of one object. */
export interface ObjectChange<T extends KubeObject = KubeObject> {
  readonly key: string;
  readonly object: Stored<T> | undefined;
  readonly old: Stored<T> | undefined;
}
