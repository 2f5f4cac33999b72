/** An API that browsers reach through the console. */
export interface Proxied {
  /** Path that browsers ask, with a slash at its end. */
  readonly location: string;
  /** Where it leads, with a slash at its end. */
  readonly url: string;
}

/** Where the pages are in Kolla's image of the console, and by a link in ours. */
const pages = '/var/lib/kolla/venv/lib/python3/site-packages/skyline_console/static';

/** Answered by nginx itself. */
export const healthPath = '/healthz';

/**
 * The configuration of nginx: pages, and a location for each API, as `skyline-nginx-generator` writes them from the catalogue
 * (skyline_apiserver/templates/nginx.conf.j2). `port`: where it listens; `authority`: file with the certificate of whom it
 * trusts behind https, which it reads at its start, and without which it trusts anybody there.
 */
export function nginxConfiguration(port: number, apis: readonly Proxied[], authority?: string): string {
  const verified =
    authority === undefined ? '' : `  proxy_ssl_verify on;\n  proxy_ssl_trusted_certificate ${authority};\n`;
  return `pid /tmp/nginx.pid;
error_log stderr;
worker_processes 2;
events {
  worker_connections 1024;
}
http {
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  types_hash_max_size 2048;
  access_log /dev/stdout;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `  ${kind}_temp_path /tmp/${kind};\n`).join('')}\
  sendfile on;
  gzip_static on;
  server_tokens off;
  client_max_body_size 0;
  proxy_buffering off;
  proxy_request_buffering off;
  proxy_read_timeout 300;
  proxy_ssl_server_name on;
${verified}\
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Proto $forwarded_proto;
  proxy_set_header X-Forwarded-Host $host;
  map $http_x_forwarded_proto $forwarded_proto {
    default $http_x_forwarded_proto;
    '' $scheme;
  }
  server {
    listen ${port} default_server;
    root ${pages};
    index index.html;
    location / {
      try_files $uri $uri/ /index.html;
      expires 1d;
    }
    location = ${healthPath} {
      access_log off;
      return 200;
    }
${apis.map(locationOf).join('')}  }
}
`;
}

function locationOf({ location, url }: Proxied): string {
  return `    location ${location} {
      proxy_pass ${url};
      proxy_redirect ${url} ${location};
    }
`;
}

/**
 * The address of an API without its version and project, which browsers say themselves:
 * `http://nova:8774/v2.1` -> `http://nova:8774/` (skyline_apiserver/cmd/generate_nginx.py).
 */
export function rootOf(endpoint: string): string {
  return `${endpoint.replace(/(?:\/v\d+(?:\.\d+)?)?(?:\/(?:AUTH_)?[%$]\(\w+_id\)s)?\/?$/u, '')}/`;
}
