# shellcheck shell=bash disable=SC2154 # node.bash sets directory
# Import of image archives. In the node itself ctr is called as it is; from outside the caller sets enter=(in_node).

enter=()

# NAME DIGEST of each image; not those that containerd names by their digests, which outlive the names.
list_images() { "${enter[@]}" ctr --namespace k8s.io images list | awk 'NR > 1 && $1 !~ /^sha256:/ { print $1, $3 }'; }

# index.json names everything in an archive by its digest: it stands for the archive. Its mark is a file with what the
# import gave, and holds as long as the store has just that: somebody may have removed an image, or given its name away.
imported() { # mark
  [ -s "$1" ] && ! grep -qvxFf <(list_images) "$1"
}

# The same, into all nodes that run.
import_everywhere() { # archives
  local each
  enter=(in_node)
  for each in $(nodes_of); do
    use_node "$each"
    if node_runs; then import_images "$@"; fi
  done
}

import_images() { # archives
  local archive index mark began
  mkdir -p -- "$directory/store/imported"
  for archive in "$@"; do
    if index=$(tar --extract --to-stdout --occurrence=1 --file "$archive" index.json 2> /dev/null); then
      mark=$directory/store/imported/$(sha256sum <<< "$index" | cut -c 1-64)
      if imported "$mark"; then continue; fi
    else
      tar --list --file "$archive" manifest.json > /dev/null 2>&1 ||
        fail "$archive is not an image archive: it has neither index.json nor manifest.json" 'Write it with tools/kubernetes/image, skopeo copy ... oci-archive:, or docker save.'
      mark=
    fi
    began=$(now)
    say "importing ${archive##*/}"
    "${enter[@]}" ctr --namespace k8s.io images import - < "$archive" > /dev/null ||
      fail "$archive cannot be imported" 'The words of ctr are above; a full disk is the usual cause (df).'
    if [ -n "$mark" ]; then list_images | grep -F "$(grep -oE 'sha256:[0-9a-f]{64}' <<< "$index")" > "$mark" || true; fi
    say "imported ${archive##*/} in $(since "$began") s"
  done
}
