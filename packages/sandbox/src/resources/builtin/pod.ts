import type { KubeObject } from '@openstack-operator/kube';
import type { JsonObject } from '../json.ts';
import { builtinType } from './builtin-type.ts';
import { statusOf } from './cells.ts';
import { podRow } from './pod-row.ts';
import { validatePodSpec } from './pod-spec.ts';
import { validatePodUpdate } from './pod-update.ts';
import { qualityOfService } from './quality-of-service.ts';

/** `v1/Pod`. */
export const pod = builtinType('v1/Pod', {
  hasGeneration: true,
  without: ['attach', 'exec', 'portforward', 'proxy', 'resize'],
  selectableFields: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  prepareForCreate(object) {
    const spec = object.spec as JsonObject;
    object.status = { phase: 'Pending', qosClass: qualityOfService(spec) };
    if (Array.isArray(spec.schedulingGates) && spec.schedulingGates.length > 0) {
      (object.status as JsonObject).conditions = [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
        },
      ];
    }
  },
  prepareForUpdate(object: KubeObject, old: KubeObject) {
    // A pod's class of service never changes.
    const { qosClass } = statusOf(old);
    if (object.status && qosClass !== undefined) (object.status as JsonObject).qosClass = qosClass;
  },
  validate: (object) => validatePodSpec(object.spec as JsonObject, 'spec'),
  validateUpdate: validatePodUpdate,
  row: podRow,
});
