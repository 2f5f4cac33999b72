import { ConfigMap, controller, Deployment, defineKind, type KubeObject } from '@openstack-operator/kube';

/** A page that a Deployment serves. */
export interface Website extends KubeObject {
  spec: { page: string; replicas: number };
  status?: { readyReplicas: number };
}
export const Website = defineKind<Website>('example.com/v1', 'Website', 'websites');

/** Keeps a ConfigMap and a Deployment for each Website, and says in its status how many replicas are ready. */
export const websites = controller(Website, {
  owns: [ConfigMap, Deployment],
  reconcile: async ({ object: { metadata, spec }, apply, status }) => {
    const { name } = metadata;
    await apply<ConfigMap>({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { 'index.html': spec.page },
    });
    const deployment = await apply<Deployment>(deploymentOf(name, spec.replicas));
    await status({ readyReplicas: deployment.status?.readyReplicas ?? 0 });
  },
});

/** A Deployment of that many replicas; each has the page at /srv/index.html. */
export function deploymentOf(name: string, replicas: number): Deployment {
  const labels = { app: name };
  const volumeMounts = [{ name: 'page', mountPath: '/srv' }];
  const containers = [{ name: 'web', image: 'web:1', ports: [{ containerPort: 8080 }], volumeMounts }];
  const volumes = [{ name: 'page', configMap: { name } }];
  const template = { metadata: { labels }, spec: { containers, volumes } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}
