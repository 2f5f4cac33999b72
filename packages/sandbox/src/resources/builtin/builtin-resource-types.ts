import type { ResourceType } from '../resource-type.ts';
import { controllerRevision, daemonSet, deployment, replicaSet, statefulSet } from './apps.ts';
import { cronJob, job } from './batch.ts';
import { lease, namespace, node, priorityClass } from './cluster.ts';
import { configMap, secret, serviceAccount } from './configuration.ts';
import { customResourceDefinition } from './custom-resource-definition.ts';
import { event, newEvent } from './events.ts';
import { flowSchema, resourceQuota } from './limits.ts';
import { endpointSlice, endpoints, ingress, ingressClass, networkPolicy, service } from './networking.ts';
import { pod } from './pod.ts';
import {
  horizontalPodAutoscaler,
  mutatingWebhookConfiguration,
  podDisruptionBudget,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingWebhookConfiguration,
} from './policy.ts';
import { clusterRole, clusterRoleBinding, role, roleBinding } from './rbac.ts';
import { reviews } from './reviews.ts';
import { persistentVolume, persistentVolumeClaim, storageClass } from './storage.ts';

/** Every built-in kind that the sandbox serves, core group first. */
export function builtinResourceTypes(): readonly ResourceType[] {
  return [
    namespace,
    node,
    pod,
    service,
    endpoints,
    configMap,
    secret,
    serviceAccount,
    persistentVolume,
    persistentVolumeClaim,
    event,
    newEvent,
    deployment,
    replicaSet,
    statefulSet,
    daemonSet,
    controllerRevision,
    job,
    cronJob,
    endpointSlice,
    networkPolicy,
    ingress,
    ingressClass,
    podDisruptionBudget,
    horizontalPodAutoscaler,
    role,
    roleBinding,
    clusterRole,
    clusterRoleBinding,
    lease,
    priorityClass,
    resourceQuota,
    flowSchema,
    storageClass,
    customResourceDefinition,
    validatingAdmissionPolicy,
    validatingAdmissionPolicyBinding,
    validatingWebhookConfiguration,
    mutatingWebhookConfiguration,
    ...reviews,
  ];
}
