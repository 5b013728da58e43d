package result

// This file tells the formats of images.

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
)

// isPicture reports whether providers take images of the type.
func isPicture(mimeType string) bool {
	switch mimeType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// sniff returns the type of an image by its first bytes, "" where they are not
// known. Types that providers do not take are known so that a note is right.
func sniff(data []byte) string {
	from := func(i int, s string) bool { return len(data) >= i && bytes.HasPrefix(data[i:], []byte(s)) }
	// Of the brands of ISO files (ftyp) those of pictures are known: most others
	// are videos.
	switch {
	case from(0, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case from(0, "\xff\xd8\xff"):
		return "image/jpeg"
	case from(0, "GIF87a"), from(0, "GIF89a"):
		return "image/gif"
	case from(0, "RIFF") && from(8, "WEBP"):
		return "image/webp"
	case from(0, "BM"):
		return "image/bmp"
	case from(0, "II*\x00"), from(0, "MM\x00*"):
		return "image/tiff"
	case from(4, "ftypavif"):
		return "image/avif"
	case from(4, "ftyphei"), from(4, "ftyphev"), from(4, "ftypmif1"):
		return "image/heic"
	case from(0, "<svg"):
		return "image/svg+xml"
	}
	return ""
}

// size returns the width and the height of a picture in pixels, 0 by 0 where its
// header cannot be read. Nothing behind the header is looked at. To decode all of
// it would be what a hostile file wants: a megabyte can unpack to gigabytes.
func size(mimeType string, data []byte) (width, height int) {
	var (
		config image.Config
		err    error
	)
	switch mimeType {
	case "image/png":
		config, err = png.DecodeConfig(bytes.NewReader(data))
	case "image/jpeg":
		config, err = jpeg.DecodeConfig(bytes.NewReader(data))
	case "image/gif":
		config, err = gif.DecodeConfig(bytes.NewReader(data))
	case "image/webp":
		return webpSize(data)
	}
	if err != nil {
		return 0, 0
	}
	return config.Width, config.Height
}

// webpSize reads the size in the header of a WebP file, of which the standard
// library knows nothing (RFC 9649, sections 2.5 to 2.7).
func webpSize(data []byte) (width, height int) {
	const riff, chunk = 12, 8 // bytes of the headers
	if len(data) < riff+chunk+10 {
		return 0, 0
	}
	body := data[riff+chunk:]
	switch string(data[riff : riff+4]) {
	case "VP8 ": // a key frame, its start code, and 14 bits of each side
		if body[0]&1 != 0 || string(body[3:6]) != "\x9d\x01\x2a" {
			return 0, 0
		}
		return int(binary.LittleEndian.Uint16(body[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(body[8:]) & 0x3fff)
	case "VP8L": // a signature, and 14 bits of each side less 1
		if body[0] != 0x2f {
			return 0, 0
		}
		bits := binary.LittleEndian.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X": // flags, and 24 bits of each side less 1
		return int(binary.LittleEndian.Uint32(body[4:])&0xffffff) + 1, int(binary.LittleEndian.Uint32(body[6:])>>8) + 1
	}
	return 0, 0
}
