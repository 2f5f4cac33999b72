import { testServer } from './server.ts';

/** Who applies, and how. */
export interface Apply {
  readonly manager: string;
  readonly force?: boolean;
  readonly subresource?: string;
}

/** A namespace for server-side apply, with what its tests apply there. */
export async function applying() {
  const server = await testServer();
  const namespace = await server.namespace();
  const inNamespace = (plural: string) => (name: string) => `/api/v1/namespaces/${namespace}/${plural}/${name}`;
  return {
    server,
    namespace,
    configMapPath: inNamespace('configmaps'),
    servicePath: inNamespace('services'),
    apply: (path: string, object: object, { manager, force, subresource }: Apply) => {
      const query = `fieldManager=${manager}${force === undefined ? '' : `&force=${force}`}`;
      const contentType = 'application/apply-patch+yaml';
      return server.request('PATCH', `${path}${subresource ? `/${subresource}` : ''}?${query}`, {
        body: object,
        contentType,
      });
    },
  };
}

/** A ConfigMap as somebody states it. */
export const configMap = (name: string, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...rest,
});

/** A Service as somebody states it. */
export const service = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec,
});
