import type { KubeObject } from '@openstack-operator/kube';
import { forbidden, invalid, notSupported, required, struct } from '../field-error.ts';
import { type JsonObject, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import { type LabelSelector, validateLabelSelector } from '../metadata.ts';
import { index } from '../path.ts';
import type { Cell, FieldError } from '../resource-type.ts';
import { builtinType } from './builtin-type.ts';
import { ageOf, nameOf, specOf, statusOf } from './cells.ts';
import { validateIntOrPercent } from './int-or-percent.ts';

function budgetStruct({ minAvailable, selector, maxUnavailable, unhealthyPodEvictionPolicy }: JsonObject): unknown {
  return struct(
    ['MinAvailable', minAvailable],
    ['Selector', selector ?? null],
    ['MaxUnavailable', maxUnavailable],
    ['UnhealthyPodEvictionPolicy', unhealthyPodEvictionPolicy ?? null],
  );
}

/** `policy/v1/PodDisruptionBudget`. */
export const podDisruptionBudget = builtinType('policy/v1/PodDisruptionBudget', {
  hasGeneration: true,
  prepareForCreate(object) {
    object.status = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };
  },
  validate(object) {
    const spec = specOf(object);
    const { minAvailable, maxUnavailable } = spec;
    const errors: FieldError[] = [];
    if (minAvailable !== undefined && maxUnavailable !== undefined) {
      errors.push(invalid('spec', budgetStruct(spec), 'minAvailable and maxUnavailable cannot be both set'));
    }
    errors.push(...validateIntOrPercent(minAvailable, 'spec.minAvailable'));
    errors.push(...validateIntOrPercent(maxUnavailable, 'spec.maxUnavailable'));
    return [...errors, ...validateLabelSelector(spec.selector as LabelSelector | undefined, 'spec.selector')];
  },
  row(object, now) {
    const { minAvailable, maxUnavailable } = specOf(object);
    const text = (value: unknown) => (typeof value === 'number' ? `${value}` : textOf(value) || 'N/A');
    const allowed = numberOf(statusOf(object).disruptionsAllowed);
    return [nameOf(object), text(minAvailable), text(maxUnavailable), allowed, ageOf(object, now)];
  },
});

function metricText(spec: JsonObject, status: JsonObject | undefined): string {
  const source = Object.entries(spec).find(([name]) => name !== 'type');
  const target = objectOf(objectOf(source?.[1]).target);
  const current = objectOf(objectOf(status?.[source?.[0] ?? '']).current);
  const name = spec.type === 'Resource' ? `${textOf(objectOf(spec.resource).name)}: ` : '';
  if (target.averageUtilization !== undefined) {
    const now = current.averageUtilization === undefined ? '<unknown>' : `${numberOf(current.averageUtilization)}%`;
    return `${name}${now}/${numberOf(target.averageUtilization)}%`;
  }
  const wanted = target.averageValue ?? target.value ?? '<auto>';
  const now = current.averageValue ?? current.value ?? '<unknown>';
  return `${name}${textOf(now)}/${textOf(wanted)}`;
}

/** `autoscaling/v2/HorizontalPodAutoscaler`. */
export const horizontalPodAutoscaler = builtinType('autoscaling/v2/HorizontalPodAutoscaler', {
  prepareForCreate(object) {
    object.status = { currentMetrics: null, desiredReplicas: 0 };
  },
  validate(object) {
    const { minReplicas, maxReplicas, scaleTargetRef } = specOf(object);
    const target = objectOf(scaleTargetRef);
    const errors: FieldError[] = [];
    if (numberOf(minReplicas, 1) < 1) {
      errors.push(invalid('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
    }
    if (numberOf(maxReplicas) < 1) {
      errors.push(invalid('spec.maxReplicas', numberOf(maxReplicas), 'must be greater than or equal to 1'));
    }
    if (minReplicas === 0) {
      const detail = 'must specify at least one Object or External metric to support scaling to zero replicas';
      errors.push(forbidden('spec.metrics', detail));
    }
    if (numberOf(maxReplicas) < numberOf(minReplicas, 1)) {
      errors.push(invalid('spec.maxReplicas', numberOf(maxReplicas), 'must be greater than or equal to `minReplicas`'));
    }
    if (!target.kind) errors.push(required('spec.scaleTargetRef.kind'));
    if (!target.name) errors.push(required('spec.scaleTargetRef.name'));
    return errors;
  },
  row(object, now) {
    const spec = specOf(object);
    const status = statusOf(object);
    const target = objectOf(spec.scaleTargetRef);
    const current = objectsOf(status.currentMetrics);
    const metrics = objectsOf(spec.metrics).map((metric, position) => metricText(metric, current[position]));
    const more = metrics.length > 2 ? ` + ${metrics.length - 2} more...` : '';
    return [
      nameOf(object),
      `${textOf(target.kind)}/${textOf(target.name)}`,
      metrics.length > 0 ? metrics.slice(0, 2).join(', ') + more : '<none>',
      spec.minReplicas === undefined ? '<unset>' : String(numberOf(spec.minReplicas)),
      numberOf(spec.maxReplicas),
      numberOf(status.currentReplicas),
      ageOf(object, now),
    ];
  },
});

function validateWebhooks(object: KubeObject): FieldError[] {
  const seen = new Set<unknown>();
  return objectsOf(object.webhooks).flatMap((webhook, position) => {
    const at = index('webhooks', position);
    const errors: FieldError[] = [];
    const config = objectOf(webhook.clientConfig);
    if (!webhook.name) errors.push(required(`${at}.name`));
    else if (textOf(webhook.name).split('.').length < 3) {
      errors.push(
        invalid(`${at}.name`, webhook.name, 'should be a domain with at least three segments separated by dots'),
      );
    }
    if (seen.has(webhook.name))
      errors.push({ type: 'Duplicate', field: `${at}.name`, value: webhook.name, detail: '' });
    seen.add(webhook.name);
    if ((config.url === undefined) === (config.service === undefined)) {
      errors.push(required(`${at}.clientConfig`, 'exactly one of url or service is required'));
    }
    if (webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
      errors.push(
        webhook.sideEffects === undefined
          ? required(`${at}.sideEffects`, 'must specify one of None, NoneOnDryRun')
          : notSupported(`${at}.sideEffects`, webhook.sideEffects, ['None', 'NoneOnDryRun']),
      );
    }
    const versions = Array.isArray(webhook.admissionReviewVersions) ? webhook.admissionReviewVersions : [];
    if (versions.length === 0)
      errors.push(required(`${at}.admissionReviewVersions`, 'must specify one of v1, v1beta1'));
    else if (!versions.includes('v1') && !versions.includes('v1beta1')) {
      errors.push(invalid(`${at}.admissionReviewVersions`, versions, 'must include at least one of v1, v1beta1'));
    }
    return errors;
  });
}

function webhooksRow(object: KubeObject, now: number): Cell[] {
  return [nameOf(object), objectsOf(object.webhooks).length, ageOf(object, now)];
}

/** `admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration`. */
export const validatingWebhookConfiguration = builtinType(
  'admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration',
  { hasGeneration: true, validate: validateWebhooks, row: webhooksRow },
);

/** `admissionregistration.k8s.io/v1/MutatingWebhookConfiguration`. */
export const mutatingWebhookConfiguration = builtinType(
  'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration',
  {
    hasGeneration: true,
    validate: validateWebhooks,
    row: webhooksRow,
  },
);

/** `admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy`. */
export const validatingAdmissionPolicy = builtinType('admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy', {
  hasGeneration: true,
  validate(object) {
    const spec = specOf(object);
    const errors: FieldError[] = [];
    if (objectsOf(spec.validations).length === 0 && objectsOf(spec.auditAnnotations).length === 0) {
      errors.push(required('spec.validations', 'validations or auditAnnotations must contain at least one item'));
      errors.push(required('spec.auditAnnotations', 'validations or auditAnnotations must contain at least one item'));
    }
    if (spec.matchConstraints === undefined) errors.push(required('spec.matchConstraints'));
    return errors;
  },
  row(object, now) {
    const { validations, paramKind } = specOf(object);
    const kind = objectOf(paramKind);
    const text = paramKind === undefined ? '<unset>' : `${textOf(kind.apiVersion)}/${textOf(kind.kind)}`;
    return [nameOf(object), objectsOf(validations).length, text, ageOf(object, now)];
  },
});

/** `admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding`. */
export const validatingAdmissionPolicyBinding = builtinType(
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding',
  {
    hasGeneration: true,
    validate(object) {
      const spec = specOf(object);
      const errors: FieldError[] = [];
      if (!spec.policyName) errors.push(required('spec.policyName'));
      if (!Array.isArray(spec.validationActions) || spec.validationActions.length === 0) {
        errors.push(required('spec.validationActions', 'at least one validation action is required'));
      }
      return errors;
    },
    row(object, now) {
      const { policyName, paramRef } = specOf(object);
      const reference = objectOf(paramRef);
      const name = reference.name ? `${textOf(reference.namespace) || '*'}/${textOf(reference.name)}` : '<unset>';
      return [nameOf(object), textOf(policyName), name, ageOf(object, now)];
    },
  },
);
