import type { AdmissionPlugin, Core } from './core.ts';
import { forbidden, notFound } from './status.ts';

/** Nothing is written into a namespace that is not there, nothing created in one that is going. */
export function namespaceLifecycle(core: Core): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    mutate({ operation, served, namespace, name }) {
      if (!served.type.kind.namespaced || operation === 'DELETE') return;
      const found = core.store.get('namespaces', namespace);
      if (!found) throw notFound({ group: '', resource: 'namespaces' }, namespace);
      const status = found['status'] as { phase?: string } | undefined;
      if (operation !== 'CREATE' || status?.phase !== 'Terminating') return;
      const because = `unable to create new content in namespace ${namespace} because it is being terminated`;
      const error = forbidden(served.groupResource, name, because);
      const message = `namespace ${namespace} is being terminated`;
      error.status.details = {
        ...error.status.details,
        causes: [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }],
      };
      throw error;
    },
  };
}
