import { type KubeObject, uuid } from '@openstack-operator/kube';
import { cloneJson, isObject, objectOf, objectsOf, textOf } from '../resources/json.ts';
import { type LabelSelector, selectorMatches } from '../resources/metadata.ts';
import type { AdmissionPlugin, AdmissionRequest, Core } from './core.ts';
import { applyJsonPatch } from './json-patch.ts';
import { internalError, notOffered, StatusError } from './status.ts';

/** Posts a review to a webhook. Rejects when nobody answers, with the reason in words. */
export type WebhookCaller = (
  url: string,
  caBundle: string,
  review: string,
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly body: string }>;

/** Thrown out of a write that a webhook has to be asked about; once `answered` the request is handled anew. */
export class AwaitsWebhook extends Error {
  readonly answered: Promise<void>;
  constructor(answered: Promise<void>) {
    super('a webhook is asked');
    this.answered = answered;
  }
}

/** What webhooks said in the course of one request; an Error when one could not be asked. */
export type WebhookAnswers = Map<string, Response | Error>;

interface Response {
  readonly allowed?: boolean;
  readonly status?: { readonly code?: number; readonly reason?: string; readonly message?: string };
  readonly patch?: string;
  readonly warnings?: readonly string[];
}

interface Webhook {
  readonly name: string;
  readonly configuration: string;
  readonly clientConfig: { readonly url?: string; readonly caBundle?: string };
  readonly rules?: readonly Rule[];
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly timeoutSeconds: number;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly matchConditions?: readonly unknown[];
}

interface Rule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope?: string;
}

/**
 * Asks the webhooks of the configurations in the store. Writes are synchronous, so that nothing changes between a read
 * and a write; webhooks are not. A write that needs an answer is therefore given up, and done again with the answer:
 * until it is stored nothing of it is seen.
 */
export function webhookAdmission(core: Core, call: WebhookCaller, answers: WebhookAnswers): AdmissionPlugin {
  const responseOf = (webhook: Webhook, request: AdmissionRequest, object: KubeObject | undefined) => {
    const review = reviewOf(request, object);
    const key = JSON.stringify([webhook.configuration, webhook.name, review], (field, value: unknown) =>
      isAnewEachTime(field, object) ? undefined : value,
    );
    const known = answers.get(key);
    if (known === undefined) {
      const asked = ask(core, call, webhook, review);
      throw new AwaitsWebhook(asked.then((answer) => void answers.set(key, answer)));
    }
    return known instanceof Error ? failed(webhook, known) : permitted(webhook, known, request);
  };
  const mutating = (request: AdmissionRequest) => webhooksFor(core, 'mutatingwebhookconfigurations', request);
  return {
    name: 'Webhooks',
    mutate(request) {
      const { object, old, served } = request;
      if (object === undefined) return;
      for (const webhook of mutating(request)) {
        const view = cloneJson<KubeObject>(object);
        if (old === undefined) served.type.prepareForCreate(view);
        else served.type.prepareForUpdate(view, old);
        const { patch } = responseOf(webhook, request, view);
        if (patch === undefined) continue;
        const patched = applyJsonPatch(view, JSON.parse(Buffer.from(patch, 'base64').toString()));
        for (const field of Object.keys(object)) delete object[field];
        Object.assign(object, patched);
      }
    },
    validate(request) {
      // Nothing is left to change of what is deleted.
      if (request.operation === 'DELETE')
        for (const webhook of mutating(request)) responseOf(webhook, request, undefined);
      for (const webhook of webhooksFor(core, 'validatingwebhookconfigurations', request)) {
        responseOf(webhook, request, request.object);
      }
    },
  };
}

/** What a write that is done again makes anew, and a webhook's answer does not hang on. */
function isAnewEachTime(field: string, object: KubeObject | undefined): boolean {
  if (field === 'name') return object?.metadata.generateName !== undefined;
  return field === 'uid' || field === 'creationTimestamp' || field === 'managedFields';
}

function webhooksFor(core: Core, configurations: string, request: AdmissionRequest): Webhook[] {
  const { group } = request.served.groupResource;
  // What registers webhooks is not for webhooks to refuse.
  if (group === 'admissionregistration.k8s.io') return [];
  return core.store
    .list(`${configurations}.admissionregistration.k8s.io`)
    .flatMap(({ metadata, webhooks }) =>
      objectsOf(webhooks).map((webhook) => ({ ...webhook, configuration: metadata.name }) as unknown as Webhook),
    )
    .filter((webhook) => webhook.rules?.some((rule) => covers(rule, request)) && isSelected(core, webhook, request));
}

function covers({ operations, apiGroups, apiVersions, resources, scope = '*' }: Rule, request: AdmissionRequest) {
  const { served, subresource, operation } = request;
  const { group, version, plural, namespaced } = served.type.kind;
  const has = (list: readonly string[], value: string) => list.includes('*') || list.includes(value);
  const names = subresource === '' ? [plural, '*'] : [`${plural}/${subresource}`, `${plural}/*`, `*/${subresource}`];
  return (
    has(operations, operation) &&
    has(apiGroups, group) &&
    has(apiVersions, version) &&
    (scope === '*' || (scope === 'Namespaced') === namespaced) &&
    resources.some((resource) => resource === '*/*' || names.includes(resource))
  );
}

function isSelected(core: Core, webhook: Webhook, { served, namespace, object, old }: AdmissionRequest): boolean {
  if (webhook.matchConditions?.length) throw notOffered('matchConditions of webhooks');
  const labelsOf = (one: KubeObject | undefined) => one?.metadata.labels ?? {};
  const home = served.id === 'namespaces' ? (object ?? old) : core.store.get('namespaces', namespace);
  if (home !== undefined && !selectorMatches(webhook.namespaceSelector, labelsOf(home))) return false;
  return [object, old].some((one) => one !== undefined && selectorMatches(webhook.objectSelector, labelsOf(one)));
}

function reviewOf(request: AdmissionRequest, object: KubeObject | undefined) {
  const { operation, served, subresource, name, namespace, user, dryRun, old } = request;
  const { group, version, kind, plural } = served.type.kind;
  const which = { group, version, kind };
  const resource = { group, version, resource: plural };
  return {
    kind: which,
    resource,
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: which,
    requestResource: resource,
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: { username: user.name, groups: user.groups },
    object: object ?? null,
    oldObject: old ?? null,
    dryRun,
    options: null,
  };
}

/** The response of a webhook, or why there is none, in the words of kube-apiserver. */
async function ask(core: Core, call: WebhookCaller, webhook: Webhook, request: object): Promise<Response | Error> {
  const { clientConfig, timeoutSeconds } = webhook;
  if (clientConfig.url === undefined)
    return new Error('the sandbox calls webhooks by their url alone, not by a service');
  const url = `${clientConfig.url}?timeout=${timeoutSeconds}s`;
  const ended = new AbortController();
  const timer = core.clock.after(timeoutSeconds * 1000, () => ended.abort(new Error('context deadline exceeded')));
  const late = new Promise<never>((_, reject) => {
    ended.signal.addEventListener('abort', () => reject(ended.signal.reason), { once: true });
  });
  const uid = uuid(core.random);
  const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: { uid, ...request } };
  try {
    const certificate = Buffer.from(clientConfig.caBundle ?? '', 'base64').toString();
    const answered = call(url, certificate, JSON.stringify(review), ended.signal);
    const { status, body } = await Promise.race([answered, late]);
    if (status !== 200) {
      const words = `an error on the server (${JSON.stringify(body)}) has prevented the request from succeeding`;
      return new Error(`failed to call webhook: ${words}`);
    }
    return responseIn(body, uid);
  } catch (error) {
    return new Error(`failed to call webhook: Post ${JSON.stringify(url)}: ${(error as Error).message}`);
  } finally {
    timer.cancel();
  }
}

function responseIn(body: string, uid: string): Response | Error {
  const { response }: { response?: unknown } = JSON.parse(body);
  if (!isObject(response)) return new Error('received invalid webhook response: webhook response was absent');
  const said = textOf(objectOf(response)['uid']);
  if (said === uid) return response;
  return new Error(`received invalid webhook response: expected response.uid="${uid}", got ${JSON.stringify(said)}`);
}

function failed({ name, failurePolicy }: Webhook, { message }: Error): Response {
  if (failurePolicy === 'Ignore') return {};
  throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${message}`);
}

function permitted({ name }: Webhook, response: Response, request: AdmissionRequest): Response {
  for (const warning of response.warnings ?? []) request.warn(warning);
  if (response.allowed === true) return response;
  const { code = 0, reason = '', message = '' } = response.status ?? {};
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`;
  const because = message || reason;
  const words = because === '' ? `${denied} without explanation` : `${denied}: ${because}`;
  throw new StatusError(Math.max(code, 400), reason, words);
}
