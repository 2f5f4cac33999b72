import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { answerLimit, type Http } from './http.ts';

/** Sends requests from this process; gives up on a silent server after `timeout` milliseconds. */
export function nodeHttp({ timeout = answerLimit, signal }: { timeout?: number; signal?: AbortSignal } = {}): Http {
  return ({ method, url, headers, body, ca }) =>
    new Promise((resolve, reject) => {
      const request = url.startsWith('https:') ? requestHttps : requestHttp;
      const sent = request(
        url,
        { method, headers, timeout, ...(signal === undefined ? {} : { signal }), ...(ca === undefined ? {} : { ca }) },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const flat = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
            resolve({
              status: response.statusCode ?? 0,
              headers: Object.fromEntries(flat),
              body: Buffer.concat(chunks).toString(),
            });
          });
        },
      );
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${url}: no answer within ${timeout / 1000} s`)));
      sent.on('error', reject);
      sent.end(body);
    });
}
