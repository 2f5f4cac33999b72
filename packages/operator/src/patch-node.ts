import { isApiError, Node, type StoredObject } from '@openstack-operator/kube';
import { fieldManager } from '@openstack-operator/openstack';
import type { OperatorContext } from './context.ts';

/** Labels and annotations to be set, or to be taken off (null). */
export interface NodeChange {
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
}

/** Changes our labels and annotations of a node under its resourceVersion; a node that is gone is let be. */
export async function patchNode(
  { client, signal }: OperatorContext,
  node: StoredObject,
  { labels, annotations }: NodeChange,
): Promise<void> {
  const { name, resourceVersion } = node.metadata;
  const change = { ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) };
  const metadata = { resourceVersion, ...change };
  try {
    await client.patch(Node, { name }, 'merge', { metadata }, { fieldManager, signal });
  } catch (error) {
    if (!isApiError(error, 404)) throw error;
  }
}
