"""The files of the pages as they are kept and as they go out."""

import gzip

from appliance.web.assets import STATIC, load

LIBRARY = "vendor/mqtt.esm.js"


def test_whoever_can_unpack_gets_a_file_packed_and_says_the_same_tag_for_it() -> None:
    kept = load()[f"/{LIBRARY}"]
    whole = (STATIC / LIBRARY).read_bytes()
    body, headers = kept.for_reader("gzip, deflate, br")
    assert gzip.decompress(body) == whole
    assert dict(headers) == {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    assert kept.for_reader("") == (whole, (("Vary", "Accept-Encoding"),))
    assert kept.etag.startswith("W/")


def test_the_files_take_a_third_of_their_size() -> None:
    sizes = [
        (len(each.body), (STATIC / path.lstrip("/")).stat().st_size) for path, each in load().items() if path != "/"
    ]
    assert sum(packed for packed, _ in sizes) < sum(size for _, size in sizes) * 0.4
