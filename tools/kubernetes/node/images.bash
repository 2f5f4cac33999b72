# shellcheck shell=bash disable=SC2154 # node.bash sets directory
# Import of image archives. In the node itself ctr is called as it is; from outside the caller sets enter=(in_node).

enter=()

# index.json names everything in an archive by its digest, so the index alone tells whether the store has it all.
imported() { # the archive's index
  local digest has
  has=$("${enter[@]}" ctr --namespace k8s.io images list | awk 'NR > 1 { print $3 }')
  while read -r digest; do
    grep -qxF "$digest" <<< "$has" || return 1
  done < <(grep -oE 'sha256:[0-9a-f]{64}' <<< "$1")
}

import_images() { # archives
  local archive index mark began
  mkdir -p -- "$directory/store/imported"
  for archive in "$@"; do
    if index=$(tar --extract --to-stdout --occurrence=1 --file "$archive" index.json 2> /dev/null); then
      # The name of an image is part of the mark: another archive may have taken the name in between.
      mark=$directory/store/imported/$(sha256sum <<< "$index" | cut -c 1-64)
      if [ -e "$mark" ] && imported "$index"; then continue; fi
    else
      tar --list --file "$archive" manifest.json > /dev/null 2>&1 ||
        fail "$archive is not an image archive: it has neither index.json nor manifest.json" 'Write it with tools/kubernetes/image, skopeo copy ... oci-archive:, or docker save.'
      mark=
    fi
    began=$(now)
    say "importing ${archive##*/}"
    "${enter[@]}" ctr --namespace k8s.io images import - < "$archive" > /dev/null ||
      fail "$archive cannot be imported" 'The words of ctr are above; a full disk is the usual cause (df).'
    if [ -n "$mark" ]; then touch "$mark"; fi
    say "imported ${archive##*/} in $(since "$began") s"
  done
}
