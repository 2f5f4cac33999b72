import type { CacheReader, Kind, KubeObject, StoredObject } from '@openstack-operator/kube';
import type { Observed } from '../assess/observed.ts';
import type { Progress } from '../engine/vocabulary/step.ts';
import type { ReferenceField } from '../engine/vocabulary/surroundings.ts';

/** Why something may not be deleted yet, and after how many milliseconds that is to be looked at again. */
export interface Hold extends Pick<Progress, 'reason' | 'message'> {
  readonly requeueAfter: number;
}

/**
 * What a plan follows from beside the composition: objects as they are, questions whose answers are known, and the time.
 * The same answers give the same plan.
 */
export interface Live extends Observed {
  /** The resource, with its status. */
  readonly resource: StoredObject;
  readonly cache: CacheReader;
  /** Conditions that are met at this moment. */
  readonly done: ReadonlySet<string>;
  /** Whether a Secret of templates is live as they are filled now, with no other key. Only who may read Secrets can tell. */
  readonly isResolved: (object: KubeObject) => boolean;
  /** Id of the key of digests, by which a node is known to have been this resource's. */
  readonly digestKeyId?: string;
  /** What of users keeps an object from being deleted. */
  readonly hold: (object: StoredObject) => Hold | undefined;
  /** Resources of a kind that refer to an object by a field: by name, or as the only one of its namespace. */
  readonly referring: (kind: Kind, field: ReferenceField, object: StoredObject) => readonly StoredObject[];
  /** Children that have not let go yet of data that are to stay. */
  readonly retaining: readonly StoredObject[];
}
