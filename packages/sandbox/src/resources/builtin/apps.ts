import type { KubeObject } from '@openstack-operator/kube';
import { controllerOf } from '@openstack-operator/kube';
import { numberOf, objectOf } from '../json.ts';
import { formatSelector, type LabelSelector } from '../metadata.ts';
import { isDnsSubdomain, nameCheck } from '../names.ts';
import type { ScalePaths } from '../resource-type.ts';
import { builtinType } from './builtin-type.ts';
import { ageOf, containerCells, formatLabels, nameOf, specOf, statusOf } from './cells.ts';
import {
  validateDaemonSet,
  validateDaemonSetUpdate,
  validateDeployment,
  validateReplicaSet,
  validateSelectorUpdate,
  validateStatefulSet,
  validateStatefulSetUpdate,
} from './workload-validation.ts';

const scale: ScalePaths = {
  specReplicas: '.spec.replicas',
  statusReplicas: '.status.replicas',
  labelSelector: '.spec.selector',
};

function selectorOf(object: KubeObject): string {
  return formatSelector(specOf(object).selector as LabelSelector | undefined);
}

/** `apps/v1/Deployment`. */
export const deployment = builtinType('apps/v1/Deployment', {
  hasGeneration: true,
  scale,
  validate: validateDeployment,
  validateUpdate: validateSelectorUpdate,
  row(object, now) {
    const status = statusOf(object);
    return [
      nameOf(object),
      `${numberOf(status.readyReplicas)}/${numberOf(specOf(object).replicas)}`,
      numberOf(status.updatedReplicas),
      numberOf(status.availableReplicas),
      ageOf(object, now),
      ...containerCells(specOf(object).template),
      selectorOf(object),
    ];
  },
});

/** `apps/v1/ReplicaSet`. */
export const replicaSet = builtinType('apps/v1/ReplicaSet', {
  hasGeneration: true,
  scale,
  prepareForCreate(object) {
    object.status = { replicas: 0 };
  },
  validate: validateReplicaSet,
  validateUpdate: validateSelectorUpdate,
  row(object, now) {
    const status = statusOf(object);
    return [
      nameOf(object),
      numberOf(specOf(object).replicas),
      numberOf(status.replicas),
      numberOf(status.readyReplicas),
      ageOf(object, now),
      ...containerCells(specOf(object).template),
      selectorOf(object),
    ];
  },
});

/** `apps/v1/StatefulSet`. */
export const statefulSet = builtinType('apps/v1/StatefulSet', {
  name: nameCheck(isDnsSubdomain),
  hasGeneration: true,
  scale,
  prepareForCreate(object) {
    object.status = { availableReplicas: 0, replicas: 0 };
  },
  validate: validateStatefulSet,
  validateUpdate: validateStatefulSetUpdate,
  row(object, now) {
    const ready = numberOf(statusOf(object).readyReplicas);
    return [
      nameOf(object),
      `${ready}/${numberOf(specOf(object).replicas)}`,
      ageOf(object, now),
      ...containerCells(specOf(object).template),
    ];
  },
});

/** `apps/v1/DaemonSet`. */
export const daemonSet = builtinType('apps/v1/DaemonSet', {
  hasGeneration: true,
  prepareForCreate(object) {
    object.metadata.annotations = {
      ...object.metadata.annotations,
      'deprecated.daemonset.template.generation': '1',
    };
    object.status = { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 };
  },
  prepareForUpdate(object, old) {
    const generation = Number(old.metadata.annotations?.['deprecated.daemonset.template.generation'] ?? 0);
    const changed = JSON.stringify(specOf(object).template) !== JSON.stringify(specOf(old).template);
    object.metadata.annotations = {
      ...object.metadata.annotations,
      'deprecated.daemonset.template.generation': String(changed ? generation + 1 : generation),
    };
  },
  validate: validateDaemonSet,
  validateUpdate: validateDaemonSetUpdate,
  row(object, now) {
    const status = statusOf(object);
    return [
      nameOf(object),
      numberOf(status.desiredNumberScheduled),
      numberOf(status.currentNumberScheduled),
      numberOf(status.numberReady),
      numberOf(status.updatedNumberScheduled),
      numberOf(status.numberAvailable),
      formatLabels(objectOf(objectOf(specOf(object).template).spec).nodeSelector),
      ageOf(object, now),
      ...containerCells(specOf(object).template),
      selectorOf(object),
    ];
  },
});

/** `apps/v1/ControllerRevision`. */
export const controllerRevision = builtinType('apps/v1/ControllerRevision', {
  validateUpdate: (object, old) =>
    JSON.stringify(object.data) === JSON.stringify(old.data)
      ? []
      : [{ type: 'Invalid', field: 'data', value: object.data, detail: 'field is immutable' }],
  row(object, now) {
    const owner = controllerOf(object);
    const group = owner?.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : '';
    const name = owner ? `${owner.kind.toLowerCase()}${group}/${owner.name}` : '<none>';
    return [nameOf(object), name, numberOf(object.revision), ageOf(object, now)];
  },
});
