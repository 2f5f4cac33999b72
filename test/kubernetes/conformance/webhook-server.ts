import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { authority, serverCertificate, serverKey } from '../../../packages/kube/src/testing/certificates.ts';

/** What a webhook is asked, as far as tests look at it. */
export interface AdmissionReview {
  readonly request: {
    readonly uid: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly operation: string;
    readonly dryRun: boolean;
    readonly object: { readonly metadata: { readonly labels?: Record<string, string> } } | null;
    readonly oldObject: object | null;
    readonly [field: string]: unknown;
  };
}

/** What a webhook says: fields of the review's response, a status code alone, or nothing ever. */
export type Verdict = object | number | 'silence';

/** A server of webhooks for one test file. */
export interface WebhookServer {
  /** Makes a webhook that answers so; gives its `clientConfig`. */
  readonly webhook: (decide: (review: AdmissionReview) => Verdict) => { url: string; caBundle: string };
  /** Where nobody listens. */
  readonly nobody: () => { url: string; caBundle: string };
  readonly close: () => void;
}

/** Starts one on 127.0.0.1, with a certificate that is public. */
export async function startWebhooks(): Promise<WebhookServer> {
  const deciders = new Map<string, (review: AdmissionReview) => Verdict>();
  const server = createServer({ cert: serverCertificate, key: serverKey }, (request, response) => {
    const chunks: Uint8Array[] = [];
    request.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as AdmissionReview;
      const verdict = deciders.get((request.url ?? '').split('?')[0] ?? '')?.(review) ?? 404;
      if (verdict === 'silence') return;
      if (typeof verdict === 'number') {
        response.writeHead(verdict).end();
        return;
      }
      const answer = { uid: review.request.uid, allowed: true, ...verdict };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }));
    });
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const { port } = server.address() as AddressInfo;
  const caBundle = Buffer.from(authority).toString('base64');
  return {
    webhook(decide) {
      const path = `/${deciders.size}`;
      deciders.set(path, decide);
      return { url: `https://127.0.0.1:${port}${path}`, caBundle };
    },
    nobody: () => ({ url: 'https://127.0.0.1:1/nobody', caBundle }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
