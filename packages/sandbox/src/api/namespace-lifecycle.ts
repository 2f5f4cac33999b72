import { type AdmissionPlugin, type Core, refusalOf } from './core.ts';
import { notFound } from './status.ts';

/** Nothing is written into a namespace that is not there, nothing created in one that is going. */
export function namespaceLifecycle(core: Core): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    mutate(request) {
      const { operation, served, namespace } = request;
      if (!served.type.kind.namespaced || operation === 'DELETE') return;
      const found = core.store.get('namespaces', namespace);
      if (!found) throw notFound({ group: '', resource: 'namespaces' }, namespace);
      const status = found['status'] as { phase?: string } | undefined;
      if (operation !== 'CREATE' || status?.phase !== 'Terminating') return;
      const because = `unable to create new content in namespace ${namespace} because it is being terminated`;
      const error = refusalOf(request, because);
      const message = `namespace ${namespace} is being terminated`;
      error.status.details = {
        ...error.status.details,
        causes: [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }],
      };
      throw error;
    },
  };
}
